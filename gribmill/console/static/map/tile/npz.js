// Reads an NPZ file in parts: the directory first, then only the requested arrays.
import { crc32 } from "./crc32.js";
import { parseNpy } from "./npy.js";
import { RangedFile } from "./ranged_file.js";
import { TileError } from "./tile_error.js";
import { DEFLATED, LOCAL_BYTES, readDirectory } from "./zip_directory.js";

export class Npz {
  #file;
  #members;

  constructor(file, members) {
    this.#file = file;
    this.#members = members;
  }

  static async open(url, signal) {
    const file = await RangedFile.open(url, signal);
    return new Npz(file, await readDirectory(file, signal));
  }

  get names() {
    return [...this.#members.keys()];
  }

  get heldBytes() {
    return this.#file.heldBytes;
  }

  // One array, after checking its checksum, size and shape.
  async array(name, signal) {
    const member = this.#members.get(name);
    if (!member) throw new TileError(`The tile has no array ${name}.`);
    const body = await this.#file.bytes(member.offset, member.limit, signal);
    const start = dataStart(body, member);
    const raw = await inflate(body.subarray(start, start + member.packed), member);
    if (crc32(raw) !== member.crc) throw new TileError(`The tile is damaged in array ${name}: its checksum is wrong.`);
    return parseNpy(raw, name);
  }
}

// Where the array begins after its local header, which must agree with the directory.
function dataStart(body, member) {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const file = `${member.name}.npy`;
  const same = view.getUint32(0, true) === 0x04034b50 && view.getUint16(8, true) === member.method;
  const nameLength = view.getUint16(26, true);
  const start = LOCAL_BYTES + nameLength + view.getUint16(28, true);
  const found = new TextDecoder().decode(body.subarray(LOCAL_BYTES, LOCAL_BYTES + nameLength));
  if (!same || found !== file || start + member.packed > body.length) {
    throw new TileError(`The tile is damaged: array ${member.name} and the directory disagree.`);
  }
  return start;
}

// Inflates at most the size that the directory declares; a longer stream is an error.
async function inflate(packed, member) {
  if (member.method !== DEFLATED) return packed.slice();
  const raw = new Uint8Array(member.size);
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  let at = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length > raw.length) throw new TileError("too long");
      raw.set(value, at);
      at += value.length;
    }
  } catch {
    reader.cancel().catch(() => {});
    at = -1;
  }
  if (at !== raw.length) throw new TileError(`The tile is damaged in array ${member.name}: it cannot be inflated.`);
  return raw;
}
