// What is wrong with a tile or a request, as a sentence for the person at the map.
export class TileError extends Error {
  name = "TileError";
}
