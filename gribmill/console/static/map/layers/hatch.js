// The pattern of missing points: diagonal stripes, unlike any colour scale.
export const HATCH_PIXELS = 8;
export const STRIPE_PIXELS = 2;
export const GROUND = [216, 219, 224];
export const STRIPE = [168, 174, 184];

export function hatchPattern(context, ratio) {
  const side = Math.round(HATCH_PIXELS * ratio);
  const tile = new OffscreenCanvas(side, side);
  const pen = tile.getContext("2d");
  const image = pen.createImageData(side, side);
  for (let at = 0; at < side * side; at++) {
    const striped = ((at % side) + Math.floor(at / side)) % side < STRIPE_PIXELS * ratio;
    image.data.set([...(striped ? STRIPE : GROUND), 255], at * 4);
  }
  pen.putImageData(image, 0, 0);
  return context.createPattern(tile, "repeat");
}
