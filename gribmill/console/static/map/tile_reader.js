// Sends requests to the worker that reads tiles. Several may be pending.
import { TileError } from "./tile/tile_error.js";

export class TileReader {
  #worker = new Worker(new URL("./tile_worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #last = 0;

  constructor() {
    this.#worker.addEventListener("message", ({ data: { id, result, problem, kind } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (problem) reject(new TileError(problem, kind));
      else resolve(result);
    });
    this.#worker.addEventListener("error", () => {
      for (const { reject } of this.#waiting.values()) reject(new TileError("Reading tiles has failed. Reload the page."));
      this.#waiting.clear();
    });
  }

  #ask(action, request) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, action, ...request });
    });
  }

  open = (url) => this.#ask("open", { url });
  values = (url, name) => this.#ask("values", { url, name });
  prefetch = (url, names) => this.#ask("prefetch", { url, names });
  picture = (url, name, { levels, colours, low, high, lut }) => this.#ask("picture", { url, name, scale: { levels, colours, low, high, lut } });
  difference = (first, second) => this.#ask("difference", { first, second });
  contours = (url, name, lines) => this.#ask("contours", { url, name, ...lines });
}
