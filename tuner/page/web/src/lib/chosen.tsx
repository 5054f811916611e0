// The configuration that views are about: the one chosen, else the best.
import type * as doc from "../model/documents";
import { config, rowOf, type Data } from "../model/data";
import { count, time, times } from "./format";
import { addresses, isReport } from "./client";
import { useDocument, type Loaded } from "./load";
import { Params } from "./parts";
import { choose } from "./route";
import { use } from "./store";

export interface Chosen { row: number; trial: number; best: boolean }

/** The row of a trial, or of the best where none is named; null where there is none. */
export function chosen(d: Data, trial: number | undefined): Chosen | null {
  const best = d.order.length ? d.order[0] : -1;
  const row = trial === undefined ? best : rowOf(d, trial);
  return row < 0 ? null : { row, trial: d.trial[row], best: row === best };
}

export const explainAddress = (sweep: string, trial: number): string => `data/sweeps/${sweep}/explain?trials=${trial}`;

export function useExplained(sweep: string, trial: number | undefined): Loaded<doc.Explained> {
  return useDocument<doc.Explained>(trial === undefined ? undefined : explainAddress(sweep, trial));
}

/** The trials of a sweep that a report explains. */
export function explainedTrials(sweep: string): number[] {
  const start = explainAddress(sweep, 0).slice(0, -1);
  return addresses().filter((a) => a.startsWith(start)).map((a) => Number(a.slice(start.length))).filter(Number.isInteger);
}

/** What is chosen, in a line above the views that are about it, with steps to the next of the ranking. */
export function ChosenBar(p: { d: Data }) {
  const route = use((s) => s.route);
  const c = chosen(p.d, route.trial);
  if (!c) return <div class="note warn">No configuration of this sweep has trial number {route.trial}.</div>;
  const list = isReport ? explainedTrials(route.sweep).map((t) => rowOf(p.d, t)).filter((r) => r >= 0).sort((a, b) => p.d.place[a] - p.d.place[b]) : [...p.d.order.subarray(0, 1000)];
  const at = list.indexOf(c.row);
  const step = (by: number) => choose(p.d.trial[list[at + by]]);
  const place = p.d.place[c.row];
  return (
    <section class="card row" aria-label="The configuration shown" style={{ padding: "10px 14px" }}>
      <strong>{c.best ? "Best" : place < 0 ? "Not ranked" : `Rank ${count(place + 1)}`}</strong>
      <span>{time(p.d.time[c.row])}{!c.best && place >= 0 && ` · ${times(p.d.time[c.row] / p.d.time[p.d.order[0]])} the best's time`}</span>
      <Params config={config(p.d, c.row)} />
      <span style={{ flex: 1 }} />
      <button class="btn" disabled={at <= 0} onClick={() => step(-1)} aria-label="The next faster configuration">Faster</button>
      <button class="btn" disabled={at < 0 || at + 1 >= list.length} onClick={() => step(1)} aria-label="The next slower configuration">Slower</button>
      {!c.best && <button class="btn" onClick={() => choose(undefined)}>Best</button>}
    </section>
  );
}
