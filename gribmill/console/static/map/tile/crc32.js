// CRC-32 as in ZIP, four bytes at a time.
const TABLES = makeTables();

function makeTables() {
  const tables = [0, 1, 2, 3].map(() => new Uint32Array(256));
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    tables[0][n] = c;
  }
  for (let n = 0; n < 256; n++) {
    for (let k = 1; k < 4; k++) tables[k][n] = (tables[k - 1][n] >>> 8) ^ tables[0][tables[k - 1][n] & 255];
  }
  return tables;
}

export function crc32(bytes) {
  const [t0, t1, t2, t3] = TABLES;
  const whole = bytes.length - (bytes.length % 4);
  let c = -1;
  let at = 0;
  for (; at < whole; at += 4) {
    c ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    c = t3[c & 255] ^ t2[(c >>> 8) & 255] ^ t1[(c >>> 16) & 255] ^ t0[c >>> 24];
  }
  for (; at < bytes.length; at++) c = t0[(c ^ bytes[at]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}
