// Wind as moving particles with fading trails; as still streaks if the user prefers reduced motion.
import { WindField } from "./wind_field.js";

const PIXELS_PER_PARTICLE = 320;
const MOST = 4000;
const LIFE_FRAMES = 90;
const STILL_FRAMES = 28;
const PIXELS_PER_M_S = 0.11; // per frame of 1/60 s
const CALM_M_S = 0.2;
const CLASSES = [4, 9, 16, Infinity]; // m/s; faster ones are drawn more boldly
const OPACITY = [0.45, 0.6, 0.75, 0.9];
const FADE = "rgb(0 0 0 / 0.93)";
const LESS_MOTION = "(prefers-reduced-motion: reduce)";

export class Particles {
  #canvas;
  #context;
  #field = null;
  #places = new Float32Array(0); // left, top, age of each
  #frame = 0;
  #before = 0;
  #colour = "255 255 255";
  #quiet = window.matchMedia(LESS_MOTION);
  #view = "";

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    this.#quiet.addEventListener("change", () => this.#field && this.#start());
  }

  get count() {
    return this.#places.length / 3;
  }

  get moving() {
    return this.#frame !== 0;
  }

  // If the view has not changed, particles continue from where they are.
  show(wind, plane, camera, colour) {
    const view = [camera.x, camera.y, camera.scale, camera.width, camera.height, plane.key].join(" ");
    const goesOn = this.#field !== null && view === this.#view;
    this.#field = new WindField(wind, plane, camera);
    this.#colour = colour;
    if (goesOn && !this.#quiet.matches) return;
    this.#view = view;
    this.#canvas.width = camera.width; // also clears it
    this.#canvas.height = camera.height;
    this.#start();
  }

  #start() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    const { width, height } = this.#canvas;
    this.#places = new Float32Array(Math.min(MOST, Math.round((width * height) / PIXELS_PER_PARTICLE)) * 3);
    for (let at = 0; at < this.#places.length; at += 3) this.#begin(at, Math.random() * LIFE_FRAMES);
    if (this.#quiet.matches) {
      for (let n = 0; n < STILL_FRAMES; n++) this.#draw(1);
      return;
    }
    this.#before = performance.now();
    this.#frame = requestAnimationFrame(this.#step);
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#field) this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#field = null;
  }

  #begin(at, age = 0) {
    this.#places[at] = Math.random() * this.#canvas.width;
    this.#places[at + 1] = Math.random() * this.#canvas.height;
    this.#places[at + 2] = age;
  }

  #step = (now) => {
    // Longer frames move particles farther, so that the speed is the same on slow machines.
    const frames = Math.min(4, Math.max(0.25, (now - this.#before) / (1000 / 60)));
    this.#before = now;
    this.#draw(frames);
    this.#frame = requestAnimationFrame(this.#step);
  };

  #draw(frames) {
    const context = this.#context;
    context.globalCompositeOperation = "destination-in";
    context.fillStyle = FADE;
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.globalCompositeOperation = "source-over";
    context.lineWidth = 1;
    this.#move(frames).forEach((path, n) => {
      context.strokeStyle = `rgb(${this.#colour} / ${OPACITY[n]})`;
      context.stroke(path);
    });
  }

  #move(frames) {
    const paths = CLASSES.map(() => new Path2D());
    const places = this.#places;
    const { right, up } = this.#field;
    const { width, height } = this.#canvas;
    const pixels = PIXELS_PER_M_S * frames;
    for (let at = 0; at < places.length; at += 3) {
      const left = places[at];
      const top = places[at + 1];
      const index = this.#field.index(left, top);
      const speed = Math.sqrt(right[index] * right[index] + up[index] * up[index]);
      if ((places[at + 2] += frames) > LIFE_FRAMES || !(speed > CALM_M_S)) {
        this.#begin(at);
        continue;
      }
      const x = (places[at] = left + right[index] * pixels);
      const y = (places[at + 1] = top - up[index] * pixels);
      if (x < 0 || y < 0 || x > width || y > height) {
        this.#begin(at);
        continue;
      }
      const path = paths[speed < CLASSES[0] ? 0 : speed < CLASSES[1] ? 1 : speed < CLASSES[2] ? 2 : 3];
      path.moveTo(left, top);
      path.lineTo(x, y);
    }
    return paths;
  }
}
