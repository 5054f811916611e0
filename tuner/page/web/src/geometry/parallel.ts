// Parallel coordinates of any number of rows: between neighbouring axes rows with the same two values are one ribbon,
// so that 100,000 rows draw as a few hundred ribbons. The fastest rows are lines of their own.
import type { Column } from "./column";

export interface Ribbon {
  axis: number;
  from: number;
  to: number;
  rows: number;
  /** The fastest row's time, microseconds. */
  best: number;
}

export function ribbons(axes: Column[], time: ArrayLike<number>, rows: ArrayLike<number>): Ribbon[] {
  const out: Ribbon[] = [];
  for (let i = 0; i + 1 < axes.length; i++) {
    const a = axes[i], b = axes[i + 1];
    const count = new Uint32Array(a.size * b.size), best = new Float64Array(a.size * b.size).fill(Infinity);
    for (let k = 0; k < rows.length; k++) {
      const r = rows[k];
      const c = a.codes[r] * b.size + b.codes[r];
      count[c]++;
      if (time[r] < best[c]) best[c] = time[r];
    }
    for (let c = 0; c < count.length; c++)
      if (count[c]) out.push({ axis: i, from: Math.floor(c / b.size), to: c % b.size, rows: count[c], best: best[c] });
  }
  return out.sort((x, y) => y.best - x.best); // the fastest are drawn last
}

/** A column whose values are put together in at most so many classes of neighbours, and the first value of each. */
export function classes(c: Column, most: number): { column: Column; first: number[] } {
  const size = Math.min(c.size, most);
  const first = Array.from({ length: size }, (_, k) => Math.ceil((k * c.size) / size));
  if (size === c.size) return { column: c, first };
  const of = new Int32Array(c.size), codes = new Int32Array(c.codes.length);
  first.forEach((from, k) => of.fill(k, from));
  for (let r = 0; r < codes.length; r++) codes[r] = of[c.codes[r]];
  return { column: { codes, size }, first };
}

/** Times in classes of equal steps of their logarithm, for an axis: the fastest is class 0. */
export function timeAxis(time: ArrayLike<number>, low: number, high: number, size: number): Column {
  const codes = new Uint8Array(time.length);
  const span = Math.log(high / low) || 1;
  for (let r = 0; r < time.length; r++)
    if (time[r] > 0) codes[r] = Math.min(size - 1, Math.max(0, Math.floor((Math.log(time[r] / low) / span) * size)));
  return { codes, size };
}
