// Follows the server's event stream, but only while the page is visible: browsers limit the connections per server, and
// each stream occupies one.

export class EventStream {
  #names;
  #arrived;
  #source = null;
  #wanted = true;

  // `arrived` is called for each event with one of these names.
  constructor(names, arrived) {
    this.#names = names;
    this.#arrived = arrived;
    document.addEventListener("visibilitychange", () => this.connect());
    this.connect();
  }

  get connected() {
    return this.#source?.readyState === EventSource.OPEN;
  }

  // Connects if necessary. The browser reconnects automatically after an interruption, but not after an HTTP error.
  connect() {
    if (document.hidden || !this.#wanted) return this.#close();
    if (this.#source && this.#source.readyState !== EventSource.CLOSED) return;
    this.#close();
    this.#source = new EventSource("/api/v1/events/stream");
    for (const name of this.#names) this.#source.addEventListener(name, this.#arrived);
  }

  pause(paused) {
    this.#wanted = !paused;
    this.connect();
  }

  #close() {
    this.#source?.close();
    this.#source = null;
  }
}
