// The filter that the table and the pictures of all configurations share.
import { useMemo } from "preact/hooks";
import { apply, isNone, none, only, range, toggle, type Filter } from "../model/filter";
import type { Data } from "../model/data";
import { count, time } from "./format";
import { set, use } from "./store";
import { nameWords } from "./words";

/** The rows that the filter lets through, the fastest first. */
export function useShown(d: Data): Uint32Array {
  const filter = use((s) => s.filter);
  return useMemo(() => apply(d, filter), [d, filter]);
}

export function FilterBar(p: { d: Data; shown: Uint32Array }) {
  const filter = use((s) => s.filter);
  const change = (next: Filter) => set({ filter: next });
  const names = p.d.results.filter((r) => r.codes && r.names.length > 1 && r.names.length <= 12 && r.meta.name !== "validity");
  return (
    <section class="card" aria-label="Filter" style={{ padding: "10px 14px" }}>
      <div class="row">
        <strong>{count(p.shown.length)}</strong> <span class="muted">of {count(p.d.order.length)} configurations</span>
        <span style={{ flex: 1 }} />
        {!isNone(filter) && <button class="btn" onClick={() => change(none)}>Clear filter</button>}
      </div>
      <Chips d={p.d} filter={filter} change={change} />
      <details>
        <summary id="filter-summary">Choose values</summary>
        <div class="stack">
          {p.d.params.filter((x) => x.size > 1).map((x) => (
            <Values key={x.name} name={x.name} values={x.values.map(String)} chosen={filter.params[x.name]}
              flip={(c) => change(toggle(filter, "params", x.name, c, x.size))} />
          ))}
          {names.map((r) => (
            <Values key={r.meta.name} name={r.meta.title} values={r.names.map((n) => nameWords(r.meta.name, n))} chosen={filter.names[r.meta.name]}
              flip={(c) => change(toggle(filter, "names", r.meta.name, c, r.names.length))} />
          ))}
          <TimeLimit d={p.d} filter={filter} change={change} />
        </div>
      </details>
    </section>
  );
}

function Chips(p: { d: Data; filter: Filter; change(f: Filter): void }) {
  const { filter, d, change } = p;
  const chips: [string, () => void][] = [];
  for (const x of d.params)
    if (filter.params[x.name]) chips.push([`${x.name} = ${filter.params[x.name].map((c) => x.values[c]).join(", ")}`, () => change(only(filter, "params", x.name, [], x.size))]);
  for (const r of d.results) {
    const codes = filter.names[r.meta.name], bounds = filter.ranges[r.meta.name];
    if (codes) chips.push([`${r.meta.title} = ${codes.map((c) => nameWords(r.meta.name, r.names[c])).join(", ")}`, () => change(only(filter, "names", r.meta.name, [], r.names.length))]);
    if (bounds) chips.push([`${r.meta.title} ${rangeText(bounds, r.meta.unit)}`, () => change(range(filter, r.meta.name, null))]);
  }
  if (!chips.length) return null;
  return (
    <div class="row" style={{ marginTop: "6px" }}>
      {chips.map(([text, remove]) => (
        <span key={text} class="chip on">{text}<button aria-label={`Remove the filter ${text}`} onClick={remove}>×</button></span>
      ))}
    </div>
  );
}

function rangeText([low, high]: [number, number], unit?: string): string {
  const show = unit === "us" ? time : (v: number) => String(v);
  return low === -Infinity ? `up to ${show(high)}` : high === Infinity ? `from ${show(low)}` : `${show(low)} to ${show(high)}`;
}

function Values(p: { name: string; values: string[]; chosen?: number[]; flip(code: number): void }) {
  return (
    <fieldset class="row" style={{ border: 0, padding: 0, margin: 0 }}>
      <legend class="small muted" style={{ float: "left", minWidth: "120px" }}>{p.name}</legend>
      {p.values.slice(0, 60).map((v, c) => (
        <button key={v} class="btn" aria-pressed={!!p.chosen?.includes(c)} onClick={() => p.flip(c)}>{v}</button>
      ))}
    </fieldset>
  );
}

function TimeLimit(p: { d: Data; filter: Filter; change(f: Filter): void }) {
  const best = p.d.order.length ? p.d.time[p.d.order[0]] : NaN;
  const limits: [string, number][] = [["ties only", 0], ["within 10 %", 1.1], ["within 25 %", 1.25], ["within 2×", 2]];
  const now = p.filter.ranges.time_us?.[1];
  const slowestTie = p.d.order.subarray(0, p.d.ties).reduce((most, row) => Math.max(most, p.d.time[row]), 0);
  const bound = (l: number) => (l ? best * l : slowestTie);
  return (
    <fieldset class="row" style={{ border: 0, padding: 0, margin: 0 }}>
      <legend class="small muted" style={{ float: "left", minWidth: "120px" }}>Time</legend>
      {limits.map(([text, l]) => (
        <button key={text} class="btn" aria-pressed={now === bound(l)}
          onClick={() => p.change(range(p.filter, "time_us", now === bound(l) ? null : [-Infinity, bound(l)]))}>{text}</button>
      ))}
    </fieldset>
  );
}
