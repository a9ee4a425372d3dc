// What is wrong with a tile or a request, as a sentence for the person at the map. `kind` is "gone" for a tile that the
// server no longer has, "offline" where it does not answer, "login" where it wants to know who asks.
export class TileError extends Error {
  name = "TileError";

  constructor(message, kind = "") {
    super(message);
    this.kind = kind;
  }
}
