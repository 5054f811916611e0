// The lines of the ranked table: rows, and above each group of ties a line that says what it is.
import type * as doc from "./documents";
import type { Data } from "./data";


export interface Items {
  /** Rows, or -1 - group for the line above a group. */
  codes: Int32Array;
  /** Rows of each group that are let through. */
  inGroup: Uint32Array;
}

/** Lines of rows in the order of the ranking. */
export function grouped(d: Data, shown: Uint32Array, closed: ReadonlySet<number>): Items {
  const inGroup = new Uint32Array(d.groupStart.length);
  for (const row of shown) inGroup[d.group[row]]++;
  const codes: number[] = [];
  let last = -1;
  for (const row of shown) {
    const g = d.group[row];
    if (g !== last && inGroup[g] > 1) codes.push(-1 - g);
    last = g;
    if (!closed.has(g) || inGroup[g] === 1) codes.push(row);
  }
  return { codes: Int32Array.from(codes), inGroup };
}

/** Rows ordered by a value, those without one last. */
export function sorted(shown: Uint32Array, value: (row: number) => number, down: boolean): Int32Array {
  const keys = new Float64Array(shown.length);
  const sign = down ? -1 : 1;
  const index = new Uint32Array(shown.length), out = new Int32Array(shown.length);
  for (let i = 0; i < shown.length; i++) {
    const v = value(shown[i]);
    keys[i] = Number.isNaN(v) ? Infinity : sign * v;
    index[i] = i;
  }
  index.sort((a, b) => keys[a] - keys[b] || a - b);
  for (let i = 0; i < index.length; i++) out[i] = shown[index[i]];
  return out;
}

/** Whether a sweep's times were measured on a GPU, and not predicted. */
export const isMeasured = (s: doc.Sweep): boolean => s.levels.includes("measured");
