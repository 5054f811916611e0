// A roofline: intensity (work a byte) against performance (work a second), both logarithmic. The roof is the least of
// the memory's slope and a ceiling.

export interface Place {
  /** Work a byte. */
  x: Float64Array;
  /** Work a second. */
  y: Float64Array;
  row: Uint32Array;
}

/** Where rows are: those without work, bytes or time are left out. */
export function places(rows: ArrayLike<number>, work: ArrayLike<number>, bytes: ArrayLike<number>, us: ArrayLike<number>): Place {
  const x = new Float64Array(rows.length), y = new Float64Array(rows.length), row = new Uint32Array(rows.length);
  let n = 0;
  for (let k = 0; k < rows.length; k++) {
    const r = rows[k];
    if (!(work[r] > 0 && bytes[r] > 0 && us[r] > 0)) continue;
    x[n] = work[r] / bytes[r];
    y[n] = work[r] / (us[r] * 1e-6);
    row[n++] = r;
  }
  return { x: x.subarray(0, n), y: y.subarray(0, n), row: row.subarray(0, n) };
}

/** The intensity from which on a ceiling and not memory bounds. */
export const ridge = (ceiling: number, bytesPerSecond: number): number => ceiling / bytesPerSecond;

/** The most work a second at an intensity. */
export const roof = (x: number, bytesPerSecond: number, ceiling: number): number => Math.min(x * bytesPerSecond, ceiling);

/** Bounds that show all places, the ridges of a memory's slope with the ceilings, and the highest ceiling. */
export function bounds(p: Place, slope: number, ceilings: number[]): { x: [number, number]; y: [number, number] } {
  let x0 = Infinity, x1 = 0, y0 = Infinity, y1 = 0;
  for (let i = 0; i < p.x.length; i++) {
    x0 = Math.min(x0, p.x[i]);
    x1 = Math.max(x1, p.x[i]);
    y0 = Math.min(y0, p.y[i]);
    y1 = Math.max(y1, p.y[i]);
  }
  const high = Math.max(...ceilings, y1), ridges = ceilings.map((c) => ridge(c, slope));
  if (!p.x.length) { x0 = ridge(high, slope) / 100; x1 = ridge(high, slope) * 10; y0 = high / 1000; }
  x0 = Math.min(x0, ...ridges);
  x1 = Math.max(x1, ...ridges);
  return { x: [x0 / 2, x1 * 3], y: [y0 / 2, high * 2] };
}
