// The ZIP directory of an untrusted NPZ file: every size is checked before anything is inflated.
import { TileError } from "./tile_error.js";

export const STORED = 0;
export const DEFLATED = 8;
const LIMIT_MEMBERS = 4096;
const LIMIT_MEMBER_BYTES = 2 ** 30;
const LIMIT_RATIO = 1032; // the maximum expansion of deflate
const LIMIT_DIRECTORY_BYTES = LIMIT_MEMBERS * 4096;
const LIMIT_COMMENT_BYTES = 65535;
const END_BYTES = 22;
const CENTRAL_BYTES = 46;
export const LOCAL_BYTES = 30;
const MEMBER_NAME = /^([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})\.npy$/;
const latin1 = new TextDecoder("latin1");

// All members by name: position, compression, size and checksum.
export async function readDirectory(file, signal) {
  const end = await endRecord(file, signal);
  const data = await file.bytes(end.start, end.start + end.length, signal);
  const members = new Map();
  let at = 0;
  for (let n = 0; n < end.count; n++) {
    const member = centralEntry(data, at);
    if (members.has(member.name)) throw new TileError(`The tile has two arrays named ${member.name}.`);
    members.set(member.name, member);
    at = member.next;
  }
  if (at !== data.length) throw new TileError("The tile is damaged: its directory has a wrong length.");
  setSpans(members, end.start);
  return members;
}

async function endRecord(file, signal) {
  if (file.size < END_BYTES) throw new TileError(`This is not a tile: ${file.size} bytes are too short.`);
  const tail = await file.bytes(Math.max(0, file.size - END_BYTES - LIMIT_COMMENT_BYTES), file.size, signal);
  const view = new DataView(tail.buffer, tail.byteOffset, tail.length);
  let at = tail.length - END_BYTES;
  while (at >= 0 && view.getUint32(at, true) !== 0x06054b50) at--;
  if (at < 0) throw new TileError("This is not a tile, or its end is missing.");
  const count = view.getUint16(at + 10, true);
  const length = view.getUint32(at + 12, true);
  const start = view.getUint32(at + 16, true);
  const endAt = file.size - tail.length + at;
  const fits = !view.getUint32(at + 4, true) && view.getUint16(at + 8, true) === count;
  if (!fits || endAt + END_BYTES + view.getUint16(at + 20, true) !== file.size) {
    throw new TileError("The tile is damaged: its end record does not fit the file.");
  }
  if (count > LIMIT_MEMBERS || length > LIMIT_DIRECTORY_BYTES) {
    throw new TileError(`The tile declares ${count} arrays, more than it may have.`);
  }
  if (start + length !== endAt) throw new TileError("The tile is damaged or truncated: its directory is not where it should be.");
  return { count, start, length };
}

function centralEntry(data, at) {
  if (at + CENTRAL_BYTES > data.length) throw new TileError("The tile is damaged: its directory is cut short.");
  const view = new DataView(data.buffer, data.byteOffset + at, data.length - at);
  const afterName = CENTRAL_BYTES + view.getUint16(28, true);
  const next = at + afterName + view.getUint16(30, true) + view.getUint16(32, true);
  const match = MEMBER_NAME.exec(latin1.decode(data.subarray(at + CENTRAL_BYTES, at + afterName)));
  if (!match || next > data.length) throw new TileError("The tile has a member that is not an array.");
  const name = match[1];
  const method = view.getUint16(10, true);
  const packed = view.getUint32(20, true);
  const size = view.getUint32(24, true);
  if (view.getUint32(0, true) !== 0x02014b50 || view.getUint16(8, true) & 1 || (method !== STORED && method !== DEFLATED)) {
    throw new TileError(`The array ${name} is stored in a way that tiles do not use.`);
  }
  if (size > LIMIT_MEMBER_BYTES || size > packed * LIMIT_RATIO || (method === STORED && size !== packed)) {
    throw new TileError(`The array ${name} declares ${size} bytes, which ${packed} compressed bytes cannot give.`);
  }
  return { name, method, crc: view.getUint32(16, true), packed, size, offset: view.getUint32(42, true), next };
}

// A member may use the bytes from its offset to the next one's; members must not overlap.
function setSpans(members, directoryStart) {
  const ordered = [...members.values()].sort((a, b) => a.offset - b.offset);
  ordered.forEach((member, n) => {
    member.limit = n + 1 < ordered.length ? ordered[n + 1].offset : directoryStart;
    const least = member.offset + LOCAL_BYTES + member.name.length + ".npy".length + member.packed;
    if (least > member.limit) throw new TileError("The tile is damaged: its arrays overlap.");
  });
}
