// Panning and zooming by pointer, wheel, touch and keyboard.
const ZOOM_STEP = 1.4;
const MOVE_SHARE = 0.12; // of the view, per press of an arrow key
const STILL_PIXELS = 5; // a press that moves no farther is a click

export class Gestures {
  #held = new Map();
  #moved = 0;

  // `on` has: moved(), pointed(left, top) or pointed(null), clicked(left, top), keyed(), reset(), hour(by), unchosen().
  constructor(element, camera, on) {
    Object.assign(this, { element, camera, on });
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, (event) => this.#up(event));
    element.addEventListener("pointerleave", () => on.pointed(null));
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    element.addEventListener("keydown", (event) => this.#key(event));
  }

  #place(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #down(event) {
    if (event.button > 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.#held.set(event.pointerId, this.#place(event));
    if (this.#held.size === 1) this.#moved = 0;
  }

  #move(event) {
    const place = this.#place(event);
    const before = this.#held.get(event.pointerId);
    if (!before) return this.on.pointed(...place);
    if (this.#held.size === 2) this.#pinch(event.pointerId, place);
    else this.camera.move(place[0] - before[0], place[1] - before[1]);
    this.#moved += Math.hypot(place[0] - before[0], place[1] - before[1]);
    this.#held.set(event.pointerId, place);
    if (this.#moved > STILL_PIXELS) this.on.moved();
  }

  #pinch(id, place) {
    const [other] = [...this.#held].filter(([key]) => key !== id).map(([, value]) => value);
    const before = this.#held.get(id);
    const [was, is] = [before, place].map((one) => Math.hypot(one[0] - other[0], one[1] - other[1]));
    if (was > 0) this.camera.zoom(is / was, (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
  }

  #up(event) {
    const was = this.#held.delete(event.pointerId);
    if (was && event.type === "pointerup" && this.#moved <= STILL_PIXELS && !this.#held.size) this.on.clicked(...this.#place(event));
  }

  #wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.element) return this.on.unchosen(); // the page scrolls instead
    event.preventDefault();
    this.camera.zoom(Math.exp(-event.deltaY * 0.0015), ...this.#place(event));
    this.on.moved();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = this.camera;
    const [dx, dy] = [width * MOVE_SHARE, height * MOVE_SHARE];
    const actions = {
      ArrowLeft: () => this.camera.move(dx, 0),
      ArrowRight: () => this.camera.move(-dx, 0),
      ArrowUp: () => this.camera.move(0, dy),
      ArrowDown: () => this.camera.move(0, -dy),
      "+": () => this.camera.zoom(ZOOM_STEP),
      "=": () => this.camera.zoom(ZOOM_STEP),
      "-": () => this.camera.zoom(1 / ZOOM_STEP),
      0: () => this.on.reset(),
      Enter: () => this.on.clicked(width / 2, height / 2),
    };
    const hours = { ",": -1, ".": 1 };
    if (Object.hasOwn(hours, event.key)) return this.on.hour(hours[event.key]);
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
    this.on.moved();
    this.on.keyed();
  }
}
