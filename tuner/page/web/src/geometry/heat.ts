// The heat map of two parameters: a cell for each pair of values, with the fastest or the median time in it.
import type { Column } from "./column";

export interface Cell {
  x: number;
  y: number;
  /** Microseconds: the fastest's, or the median. NaN if no valid row is in the cell. */
  value: number;
  /** The fastest row, -1 for none. */
  best: number;
  rows: number;
}

export type Of = "best" | "median";

export function heat(a: Column, b: Column, time: ArrayLike<number>, rows: ArrayLike<number>, of: Of): Cell[] {
  const size = a.size * b.size;
  const cells: Cell[] = [];
  for (let c = 0; c < size; c++) cells.push({ x: c % a.size, y: Math.floor(c / a.size), value: NaN, best: -1, rows: 0 });
  for (let k = 0; k < rows.length; k++) {
    const r = rows[k];
    const cell = cells[b.codes[r] * a.size + a.codes[r]];
    if (!(time[r] > 0)) continue;
    cell.rows++;
    if (cell.best < 0 || time[r] < time[cell.best]) cell.best = r;
  }
  if (of === "best") for (const c of cells) c.value = c.best < 0 ? NaN : time[c.best];
  else medians(cells, a, b, time, rows);
  return cells;
}

function medians(cells: Cell[], a: Column, b: Column, time: ArrayLike<number>, rows: ArrayLike<number>): void {
  const start = new Uint32Array(cells.length + 1);
  cells.forEach((c, i) => (start[i + 1] = start[i] + c.rows));
  const sorted = new Float64Array(start[cells.length]), next = start.slice();
  for (let k = 0; k < rows.length; k++) {
    const r = rows[k];
    if (time[r] > 0) sorted[next[b.codes[r] * a.size + a.codes[r]]++] = time[r];
  }
  cells.forEach((c, i) => (c.value = median(sorted.subarray(start[i], start[i + 1]).sort())));
}

/** The median of numbers in order; NaN of none. */
export function median(sorted: Float64Array): number {
  const n = sorted.length;
  return n === 0 ? NaN : n % 2 ? sorted[(n - 1) / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}
