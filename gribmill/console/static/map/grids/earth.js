// The shape of the Earth that a grid assumes, and helpers for angles.
export const RADIANS = Math.PI / 180;
const LATITUDE_STEPS = 7; // iterations; each reduces the error by a factor of e², 0.0067 for the Earth

// A longitude in [-180, 180).
export function wrapLongitude(lon) {
  return lon - 360 * Math.floor((lon + 180) / 360);
}

export class Earth {
  constructor([a, b]) {
    this.a = a;
    this.e = Math.sqrt((a - b) * (a + b)) / a;
  }

  // Radius of a parallel, in units of the semi-major axis.
  parallelRadius(lat) {
    const phi = lat * RADIANS;
    return Math.cos(phi) / Math.sqrt(1 - (this.e * Math.sin(phi)) ** 2);
  }

  // Tangent of half the conformal colatitude: 0 at the north pole, 1 at the equator. All conformal projections use it.
  colatitude(lat) {
    const phi = lat * RADIANS;
    const t = Math.tan(Math.PI / 4 - phi / 2);
    return this.e ? t * Math.exp(this.e * Math.atanh(this.e * Math.sin(phi))) : t;
  }

  latitude(colatitude) {
    let phi = Math.PI / 2 - 2 * Math.atan(colatitude);
    if (this.e) {
      for (let n = 0; n < LATITUDE_STEPS; n++) {
        phi = Math.PI / 2 - 2 * Math.atan(colatitude * Math.exp(-this.e * Math.atanh(this.e * Math.sin(phi))));
      }
    }
    return phi / RADIANS;
  }
}
