// An error with a tile or a request, as a sentence for the user. `kind` is "gone" for a tile that the server no longer
// has, "offline" if it does not respond, "login" if it requires a login.
export class TileError extends Error {
  name = "TileError";

  constructor(message, kind = "") {
    super(message);
    this.kind = kind;
  }
}
