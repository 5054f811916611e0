// Predicted against measured times: both axes logarithmic and alike, so that the diagonal is where they agree.

/** Bounds that show all times, the same of both axes. */
export function span(...times: ArrayLike<number>[]): [number, number] {
  let low = Infinity, high = 0;
  for (const list of times)
    for (let i = 0; i < list.length; i++) {
      low = Math.min(low, list[i]);
      high = Math.max(high, list[i]);
    }
  return high > 0 ? [low * 0.93, high * 1.07] : [1, 10];
}
