// A sweep's table in typed arrays: what all views draw from.
import type * as doc from "./documents";
import type { Column } from "../geometry/column";

/** A parameter. Its values are in their order, and codes are indices into them. */
export interface Param extends Column {
  name: string;
  values: doc.Value[];
  codes: Int32Array;
}

/** A column of results: numbers, NaN where not known, or names by code, -1 where not known. */
export interface Result {
  meta: doc.Column;
  numbers?: Float64Array;
  codes?: Int32Array;
  names: string[];
}

export interface Data {
  rows: number;
  params: Param[];
  results: Result[];
  byName: Map<string, Result>;
  rooflines: doc.Roofline[];
  trial: Float64Array;
  time: Float64Array;
  /** The least and the most time of those ranked, microseconds. */
  fastest: number;
  slowest: number;
  /** Rows that are valid and of the level that counts, the fastest first. */
  order: Uint32Array;
  /** For each row its place in order, -1 for none. */
  place: Int32Array;
  /** For each row the number of its group of ties, -1 for none. */
  group: Int32Array;
  groupStart: Uint32Array;
  ties: number;
  ranking: doc.Ranking;
  damaged: number;
}

export function build(table: doc.Table, ranking: doc.Ranking): Data {
  const params = (table.parameters ?? []).map(param);
  const results = (table.columns ?? []).map(result);
  const byName = new Map(results.map((r) => [r.meta.name, r]));
  const numbers = (name: string) => byName.get(name)?.numbers ?? new Float64Array(table.rows).fill(NaN);
  const order = Uint32Array.from(ranking.order ?? []);
  const place = new Int32Array(table.rows).fill(-1);
  for (let i = 0; i < order.length; i++) place[order[i]] = i;
  const groupStart = Uint32Array.from(ranking.groups ?? []);
  const group = new Int32Array(table.rows).fill(-1);
  groupStart.forEach((start, g) => {
    const end = g + 1 < groupStart.length ? groupStart[g + 1] : order.length;
    for (let i = start; i < end; i++) group[order[i]] = g;
  });
  const time = numbers("time_us");
  let fastest = Infinity, slowest = 0;
  for (const row of order) {
    fastest = Math.min(fastest, time[row]);
    slowest = Math.max(slowest, time[row]);
  }
  return {
    rows: table.rows, params, results, byName, rooflines: table.rooflines ?? [],
    trial: numbers("trial"), time, fastest, slowest,
    order, place, group, groupStart, ties: ranking.ties, ranking, damaged: table.damaged_rows ?? 0,
  };
}

/** A later answer of a growing table, put behind an earlier one of the same epoch. */
export function extend(before: doc.Table, after: doc.Table): doc.Table {
  if (after.epoch !== before.epoch || after.from === 0) return after;
  const rows = <T,>(a: T[] | undefined, b: T[] | undefined): T[] => (a ?? []).slice(0, after.from).concat(b ?? []);
  const join = (a: doc.Column[] | null, b: doc.Column[] | null) =>
    (b ?? []).map((c, i) => {
      const was = a?.[i], coded = !!(c.codes ?? was?.codes);
      return { ...c, codes: coded ? rows(was?.codes, c.codes) : undefined, numbers: coded ? undefined : rows(was?.numbers, c.numbers) };
    });
  return { ...after, from: 0, parameters: join(before.parameters, after.parameters), columns: join(before.columns, after.columns) };
}

function param(c: doc.Column): Param {
  const dictionary = c.dictionary ?? [];
  const sorted = dictionary.map((_, i) => i).sort((a, b) => compare(dictionary[a], dictionary[b]));
  const to = new Int32Array(dictionary.length);
  sorted.forEach((from, i) => (to[from] = i));
  return {
    name: c.name, values: sorted.map((i) => dictionary[i]), size: dictionary.length,
    codes: mapped(c.codes ?? [], new Int32Array(c.codes?.length ?? 0), (code) => (code < 0 ? -1 : to[code])),
  };
}

function compare(a: doc.Value, b: doc.Value): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
}

function result(c: doc.Column): Result {
  if (c.codes) return { meta: c, codes: Int32Array.from(c.codes), names: (c.dictionary ?? []).map(String) };
  return { meta: c, numbers: mapped(c.numbers ?? [], new Float64Array(c.numbers?.length ?? 0), (v) => v ?? NaN), names: [] };
}

/** Fills a typed array; TypedArray.from goes through an iterator and takes ten times as long. */
function mapped<T, A extends Int32Array | Float64Array>(from: T[], to: A, each: (v: T) => number): A {
  for (let i = 0; i < from.length; i++) to[i] = each(from[i]);
  return to;
}

export const valueOf = (p: Param, row: number): doc.Value | undefined => p.values[p.codes[row]];

export function config(d: Data, row: number): doc.Config {
  return Object.fromEntries(d.params.map((p) => [p.name, valueOf(p, row) ?? "?"]));
}

/** "NAME=V,NAME=V", as the command line takes it. */
export const configText = (c: doc.Config): string => Object.entries(c).map(([k, v]) => `${k}=${v}`).join(",");

const rowsByTrial = new WeakMap<Data, Map<number, number>>();

/** The row of a trial, -1 for none. */
export function rowOf(d: Data, trial: number): number {
  let rows = rowsByTrial.get(d);
  if (!rows) {
    rows = new Map();
    for (let r = 0; r < d.rows; r++) rows.set(d.trial[r], r);
    rowsByTrial.set(d, rows);
  }
  return rows.get(trial) ?? -1;
}

/** The class of a row's time between the fastest (0) and a slow one (1), by logarithm; slower ones are 1 too. */
export function speedScale(d: Data): (us: number) => number {
  if (d.order.length === 0) return () => 1;
  const low = d.time[d.order[0]];
  const high = d.time[d.order[Math.min(d.order.length - 1, Math.floor(d.order.length * 0.9))]];
  const span = Math.log(Math.max(high / low, 1.0001));
  return (us) => Math.min(1, Math.max(0, Math.log(us / low) / span));
}
