// Wind as moving particles that leave fading trails.
import { WindField } from "./wind_field.js";

const PIXELS_PER_PARTICLE = 320;
const MOST = 4000;
const LIFE_FRAMES = 90;
const PIXELS_PER_M_S = 0.11; // in one frame of a sixtieth of a second
const CALM_M_S = 0.2;
const CLASSES = [4, 9, 16, Infinity]; // m/s: faster ones are drawn more strongly
const OPACITY = [0.45, 0.6, 0.75, 0.9];
const FADE = "rgb(0 0 0 / 0.93)";

export class Particles {
  #canvas;
  #context;
  #field = null;
  #places = new Float32Array(0); // left, top, age of each
  #frame = 0;
  #before = 0;
  #colour = "255 255 255";

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
  }

  get count() {
    return this.#places.length / 3;
  }

  // Null stops them.
  show(wind, plane, camera, colour) {
    this.stop();
    if (!wind) return;
    this.#canvas.width = camera.width; // also clears it
    this.#canvas.height = camera.height;
    this.#colour = colour;
    this.#field = new WindField(wind, plane, camera);
    const count = Math.min(MOST, Math.round((camera.width * camera.height) / PIXELS_PER_PARTICLE));
    this.#places = new Float32Array(count * 3);
    for (let at = 0; at < this.#places.length; at += 3) this.#begin(at, Math.random() * LIFE_FRAMES);
    this.#before = performance.now();
    this.#frame = requestAnimationFrame(this.#step);
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#field = null;
    this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
  }

  #begin(at, age = 0) {
    this.#places[at] = Math.random() * this.#canvas.width;
    this.#places[at + 1] = Math.random() * this.#canvas.height;
    this.#places[at + 2] = age;
  }

  #step = (now) => {
    // The wind is as fast on a slow machine: frames that take longer move particles farther.
    const frames = Math.min(4, Math.max(0.25, (now - this.#before) / (1000 / 60)));
    this.#before = now;
    const context = this.#context;
    context.globalCompositeOperation = "destination-in";
    context.fillStyle = FADE;
    context.fillRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.globalCompositeOperation = "source-over";
    context.lineWidth = 1.3;
    this.#move(frames).forEach((path, n) => {
      context.strokeStyle = `rgb(${this.#colour} / ${OPACITY[n]})`;
      context.stroke(path);
    });
    this.#frame = requestAnimationFrame(this.#step);
  };

  #move(frames) {
    const paths = CLASSES.map(() => new Path2D());
    const places = this.#places;
    const { right, up } = this.#field;
    const pixels = PIXELS_PER_M_S * frames;
    for (let at = 0; at < places.length; at += 3) {
      const [left, top] = [places[at], places[at + 1]];
      const index = this.#field.index(left, top);
      const speed = Math.hypot(right[index], up[index]);
      if ((places[at + 2] += frames) > LIFE_FRAMES || !(speed > CALM_M_S)) {
        this.#begin(at);
        continue;
      }
      places[at] = left + right[index] * pixels;
      places[at + 1] = top - up[index] * pixels;
      if (places[at] < 0 || places[at + 1] < 0 || places[at] > this.#canvas.width || places[at + 1] > this.#canvas.height) {
        this.#begin(at);
        continue;
      }
      const path = paths[CLASSES.findIndex((most) => speed < most)];
      path.moveTo(left, top);
      path.lineTo(places[at], places[at + 1]);
    }
    return paths;
  }
}
