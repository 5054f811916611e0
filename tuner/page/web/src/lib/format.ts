// Numbers as people read them: three significant digits, units always.
import { format } from "d3-format";

const three = format(".3~r");
const four = format(".4~r");
const thousands = format(",");

/** A time in microseconds: "1.23 ms", "184.8 µs". */
export function time(us: number): string {
  if (!Number.isFinite(us)) return "–";
  if (us >= 1e6) return four(us / 1e6) + " s";
  if (us >= 1e4) return four(us / 1e3) + " ms";
  return (us >= 0.1 ? four(us) : format(".2~e")(us)) + " µs";
}

/** A whole count: "12,345". */
export const count = (n: number): string => thousands(Math.round(n));

/** A count with what is counted: "1 worker", "2 workers". */
export const plural = (n: number, one: string): string => `${count(n)} ${one}${Math.round(n) === 1 ? "" : "s"}`;

/** A number with an SI prefix: "268 M". */
export function si(n: number, unit: string): string {
  if (!Number.isFinite(n)) return "–";
  const steps: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, prefix] of steps) if (Math.abs(n) >= size) return `${three(n / size)} ${prefix}${unit.includes(" ") ? " " : ""}${unit}`;
  return `${three(n)} ${unit}`;
}

export const bytes = (n: number): string => si(n, "B");

/** Sizes that are powers of two: "16.25 KiB". */
export function kib(n: number): string {
  if (n >= 1 << 30) return four(n / (1 << 30)) + " GiB";
  if (n >= 1 << 20) return four(n / (1 << 20)) + " MiB";
  if (n >= 1024) return four(n / 1024) + " KiB";
  return `${n} B`;
}

/** A share of one in percent: "87.6 %". */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const p = 100 * share;
  return (p !== 0 && Math.abs(p) < 0.1 ? "<0.1" : p >= 99.95 || Number.isInteger(Number(p.toFixed(6))) ? p.toFixed(0) : p.toFixed(1)) + " %";
}

/** A ratio: "2.30×". */
export const times = (r: number): string => (Number.isFinite(r) ? (r >= 100 ? r.toFixed(0) : r >= 10 ? r.toFixed(1) : r.toFixed(2)) + "×" : "–");

/** A duration in seconds: "3 min 20 s". */
export function duration(s: number): string {
  if (!Number.isFinite(s) || s < 0) return "–";
  if (s < 1) return "under a second";
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

export const short = (n: number): string => (Number.isInteger(n) && Math.abs(n) < 1e6 ? thousands(n) : four(n));
