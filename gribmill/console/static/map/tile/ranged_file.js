// Parts of a file on the server, by HTTP range requests. The URL must name one version of the file: browsers cache
// parts of it, and Chromium would combine them with parts of a later version.
import { TileError } from "./tile_error.js";

// The end record of a ZIP file is in its last 65,557 bytes. This usually includes the directory, and all of a small tile.
const TAIL_BYTES = 2 ** 16 + 2 ** 10;
const LIMIT_BYTES = 2 ** 32 - 1;

export class RangedFile {
  #url;
  #etag;
  #held;

  constructor(url, size, etag, held) {
    this.#url = url;
    this.#etag = etag;
    this.#held = held;
    this.size = size;
  }

  // `address` may end with # and the size of the file: browsers do not cache the end of a file of unknown size.
  static async open(address, signal) {
    const [url, size] = address.split("#");
    const response = await ask(url, size ? `bytes=${Math.max(0, size - TAIL_BYTES)}-${size - 1}` : `bytes=-${TAIL_BYTES}`, signal);
    const body = await bodyOf(response);
    if (response.status === 200) return new RangedFile(url, body.length, response.headers.get("ETag"), { begin: 0, body });
    const range = rangeOf(response);
    if (range.end - range.begin !== body.length || range.end !== range.size || range.size > LIMIT_BYTES) {
      throw new TileError("The server sent a different part of the tile than requested.");
    }
    return new RangedFile(url, range.size, response.headers.get("ETag"), { begin: range.begin, body });
  }

  get heldBytes() {
    return this.#held.body.length;
  }

  // The bytes from `begin` to `end`, which must all exist.
  async bytes(begin, end, signal) {
    if (!(begin >= 0 && begin <= end && end <= this.size)) throw new TileError("The tile is truncated.");
    if (begin >= this.#held.begin) return this.#held.body.subarray(begin - this.#held.begin, end - this.#held.begin);
    const response = await ask(this.#url, `bytes=${begin}-${end - 1}`, signal);
    if (response.headers.get("ETag") !== this.#etag) throw new TileError("The tile was replaced while it was being read. Load it again.");
    const body = await bodyOf(response);
    if (response.status === 200) {
      this.#held = { begin: 0, body };
      this.size = body.length;
      return this.bytes(begin, end, signal);
    }
    const range = rangeOf(response);
    if (range.begin !== begin || range.end !== end || range.size !== this.size || body.length !== end - begin) {
      throw new TileError("The server sent a different part of the tile than requested.");
    }
    return body;
  }
}

async function ask(url, range, signal) {
  let response;
  try {
    response = await fetch(url, { headers: { Range: range }, signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new TileError("The server does not respond.", "offline");
  }
  if (response.status === 200 || response.status === 206) return response;
  throw await refusal(response);
}

async function refusal(response) {
  if (response.status === 404) return new TileError("The server no longer has this tile.", "gone");
  if (response.status === 401) return new TileError("You are no longer logged in.", "login");
  if (response.status === 403) return new TileError("You may not read this tile.");
  if (response.status === 416) return new TileError("The tile is empty.");
  const problem = await response.json().catch(() => null);
  return new TileError(`The server refused to send the tile: ${problem?.detail ?? `status ${response.status}`}`);
}

async function bodyOf(response) {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new TileError("The connection was closed before the whole tile arrived.", "offline");
  }
}

function rangeOf(response) {
  const match = /^bytes (\d{1,12})-(\d{1,12})\/(\d{1,12})$/.exec(response.headers.get("Content-Range") ?? "");
  if (!match) throw new TileError("The server did not say which part of the tile it sent.");
  return { begin: Number(match[1]), end: Number(match[2]) + 1, size: Number(match[3]) };
}
