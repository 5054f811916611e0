// Which rows are shown: sets of values, and ranges of numbers.
import type { Data } from "./data";

export interface Filter {
  /** By parameter: the indices of the values that are let through. */
  params: Record<string, number[]>;
  /** By column of names: the codes that are let through. */
  names: Record<string, number[]>;
  /** By column of numbers: least and most, both let through. */
  ranges: Record<string, [number, number]>;
}

export const none: Filter = { params: {}, names: {}, ranges: {} };

export const isNone = (f: Filter): boolean =>
  Object.keys(f.params).length + Object.keys(f.names).length + Object.keys(f.ranges).length === 0;

/** The rows of those in order that a filter lets through, in the same order. */
export function apply(d: Data, f: Filter, order: Uint32Array = d.order): Uint32Array {
  if (isNone(f)) return order;
  const pass = new Uint8Array(d.rows).fill(1);
  for (const p of d.params) if (f.params[p.name]) keep(pass, p.codes, p.size, f.params[p.name]);
  for (const r of d.results) {
    const name = r.meta.name;
    if (r.codes && f.names[name]) keep(pass, r.codes, r.names.length, f.names[name]);
    if (r.numbers && f.ranges[name]) {
      const [low, high] = f.ranges[name];
      for (let i = 0; i < d.rows; i++) if (!(r.numbers[i] >= low && r.numbers[i] <= high)) pass[i] = 0;
    }
  }
  return order.filter((row) => pass[row] === 1);
}

function keep(pass: Uint8Array, codes: Int32Array, size: number, allowed: number[]): void {
  const ok = new Uint8Array(size);
  for (const a of allowed) ok[a] = 1;
  for (let i = 0; i < codes.length; i++) if (codes[i] < 0 || !ok[codes[i]]) pass[i] = 0;
}

/** A filter with a value of a parameter or of a column of names let through or not; all of them is no filter. */
export function toggle(f: Filter, kind: "params" | "names", name: string, code: number, size: number): Filter {
  const now = f[kind][name] ?? Array.from({ length: size }, (_, i) => i);
  const next = f[kind][name] === undefined ? [code] : now.includes(code) ? now.filter((c) => c !== code) : [...now, code];
  return only(f, kind, name, next, size);
}

/** A filter that lets through these values. None and all are no filter. */
export function only(f: Filter, kind: "params" | "names", name: string, codes: number[], size: number): Filter {
  const rest = { ...f[kind] };
  if (codes.length === 0 || codes.length === size) delete rest[name];
  else rest[name] = [...codes].sort((a, b) => a - b);
  return { ...f, [kind]: rest };
}

export function range(f: Filter, name: string, bounds: [number, number] | null): Filter {
  const ranges = { ...f.ranges };
  if (bounds) ranges[name] = bounds;
  else delete ranges[name];
  return { ...f, ranges };
}
