// The hours of a run: slider, steps, and playback as fast as tiles arrive.
import { hourText } from "./catalogue.js";
import { localText, utcText } from "./times.js";

const FRAME_MS = 450;

export class Player {
  #hours = [];
  #timer = 0;

  // `show(minutes)` draws an hour and resolves when it is drawn; `ahead(minutes)` prefetches one.
  constructor({ slider, label, play, back, forward }, { show, ahead, base }) {
    Object.assign(this, { slider, label, play, show, ahead, base });
    slider.addEventListener("input", () => this.#go(Number(slider.value)));
    play.addEventListener("click", () => (this.playing ? this.stop() : this.#start()));
    back.addEventListener("click", () => this.step(-1));
    forward.addEventListener("click", () => this.step(1));
  }

  get playing() {
    return this.play.getAttribute("aria-pressed") === "true";
  }

  get minutes() {
    return this.#hours[Number(this.slider.value)] ?? 0;
  }

  // Sets the available hours, and selects the one nearest to `minutes`.
  setHours(hours, minutes) {
    this.#hours = hours;
    this.slider.max = Math.max(0, hours.length - 1);
    const distances = hours.map((one) => Math.abs(one - minutes));
    this.slider.value = Math.max(0, distances.indexOf(Math.min(...distances)));
    this.slider.disabled = this.play.disabled = hours.length < 2;
    this.#tell();
  }

  async step(by) {
    const count = this.#hours.length;
    if (count) await this.#go((Number(this.slider.value) + by + count) % count);
  }

  async #go(index) {
    this.slider.value = index;
    this.#tell();
    await this.show(this.minutes);
    for (let n = 1; n <= 3; n++) {
      const next = this.#hours[(index + n) % this.#hours.length];
      if (next !== undefined) this.ahead(next);
    }
  }

  #tell() {
    const valid = this.base() + this.minutes * 60_000;
    const text = this.#hours.length ? `${hourText(this.minutes)}, ${utcText(valid)}${localText(valid)}` : "no hours yet";
    this.label.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
  }

  #start() {
    this.play.setAttribute("aria-pressed", "true");
    this.play.textContent = "Pause";
    const turn = async () => {
      const began = performance.now();
      await this.step(1);
      if (this.playing) this.#timer = setTimeout(turn, Math.max(0, FRAME_MS - (performance.now() - began)));
    };
    turn();
  }

  stop() {
    clearTimeout(this.#timer);
    this.play.setAttribute("aria-pressed", "false");
    this.play.textContent = "Play";
  }
}
