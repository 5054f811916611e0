// Reads documents, and again when they have changed.
import { useEffect, useState } from "preact/hooks";
import type * as doc from "../model/documents";
import { build, extend } from "../model/data";
import { get, isReport, Problem } from "./client";
import { current, set } from "./store";

const table = new Map<string, doc.Table>(); // as read so far, by sweep
let revision = ""; // of the documents that are read
let reading = false;
let rest = 0; // until when nothing is read again: four times as long as it took, as large tables that grow take long

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const running = (o?: doc.Overview): boolean => !!o?.sweeps?.some((s) => s.state === "running" || s.state === "deleting");

/** Reads the overview at once, and then again: once a second while something runs, else every five seconds. */
export async function poll(): Promise<void> {
  try {
    const overview = await get<doc.Overview>("data/sweeps");
    set({ overview, problem: undefined });
    void refresh();
  } catch (error) {
    set({ problem: words(error) });
  }
  if (!isReport) setTimeout(poll, document.hidden ? 10_000 : running(current().overview) ? 1000 : 5000);
}

/** Reads the documents of the sweep that is shown if they are others than those shown. */
export async function refresh(): Promise<void> {
  const { overview, route, docs } = current();
  const sweep = overview?.sweeps?.find((s) => s.id === route.sweep);
  if (!sweep || reading) return;
  const key = sweep.id + " " + sweep.revision;
  if (docs?.id === sweep.id && (key === revision || performance.now() < rest)) return;
  reading = true;
  const began = performance.now();
  try {
    if (docs?.id !== sweep.id) set({ docs: { id: sweep.id } });
    const complete = await read(sweep.id);
    revision = complete ? key : "";
    if (!complete) setTimeout(() => { rest = 0; void refresh(); }, 100);
  } catch (error) {
    set({ docs: { ...current().docs, id: sweep.id, problem: words(error) } });
    if (!(error instanceof Problem && error.status === 0)) revision = key;
  } finally {
    reading = false;
    rest = performance.now() + Math.min(10_000, 4 * (performance.now() - began));
  }
  if (current().route.sweep !== sweep.id) void refresh();
}

/** Reads the documents of a sweep, and reports whether they were all there is. */
async function read(id: string): Promise<boolean> {
  const base = `data/sweeps/${id}`;
  const [rows, ranking] = await tableAndRanking(base, id);
  if (current().route.sweep !== id) return true;
  set({ docs: { ...current().docs, id, data: build(rows, ranking), problem: undefined } });
  if (!due(id)) return rows.complete;
  const [failures, importance] = await Promise.allSettled([
    get<doc.Failures>(`${base}/failures`), get<doc.Importance>(`${base}/importance`),
  ]);
  if (current().docs?.id === id)
    set({ docs: { ...current().docs!, ...fulfilled("failures", failures), ...fulfilled("importance", importance) } });
  return rows.complete;
}

let rested = { id: "", at: 0 }; // when failures and importance were read last

/** Whether failures and importance are to be read: of a sweep that runs they are every ten seconds, as they cost more. */
function due(id: string): boolean {
  const { overview, docs } = current(), now = performance.now();
  const state = overview?.sweeps?.find((s) => s.id === id)?.state;
  if (rested.id === id && docs?.importance && state === "running" && now - rested.at < 10_000) return false;
  rested = { id, at: now };
  return true;
}

function fulfilled<K extends string, T>(key: K, r: PromiseSettledResult<T>): Partial<Record<K, T>> {
  return r.status === "fulfilled" ? ({ [key]: r.value } as Record<K, T>) : {};
}

/** A table and a ranking of the same rows: of a sweep that runs the ranking may be newer, so the table is read on. */
async function tableAndRanking(base: string, id: string): Promise<[doc.Table, doc.Ranking]> {
  let rows = table.get(id);
  let ranking = await get<doc.Ranking>(`${base}/ranking`);
  for (let tries = 0; tries < 8; tries++) {
    if (rows && rows.epoch === ranking.epoch && rows.rows >= ranking.rows) break;
    const from = rows && rows.epoch === ranking.epoch ? rows.rows : 0;
    const more = await get<doc.Table>(from ? `${base}/table?from=${from}&epoch=${encodeURIComponent(rows!.epoch)}` : `${base}/table`);
    rows = rows && from ? extend(rows, more) : more;
    if (rows.epoch !== ranking.epoch) ranking = await get<doc.Ranking>(`${base}/ranking`);
  }
  table.clear(); // one sweep's rows are kept
  table.set(id, rows!);
  return [rows!, ranking];
}

export interface Loaded<T> { value?: T; problem?: string; loading: boolean }

/** Statuses of what passes: no answer, too many requests, not available. */
const passing = [0, 429, 503];

const cache = new Map<string, unknown>();

/** A document by its address; undefined asks for none. What was read is kept, for each version of it. */
export function useDocument<T>(address: string | undefined, version = ""): Loaded<T> {
  const [state, change] = useState<Loaded<T> & { key?: string }>({ loading: false });
  const [attempt, again] = useState(0);
  const key = address && address + " " + version;
  useEffect(() => {
    if (!address || !key || cache.has(key)) return change({ loading: false });
    const stop = new AbortController();
    let timer = 0;
    change({ loading: true, key });
    get<T>(address, stop.signal).then(
      (value) => { cache.set(key, value); change({ loading: false, value, key }); },
      (error) => {
        if (stop.signal.aborted) return;
        change({ loading: false, problem: words(error), key });
        if (error instanceof Problem && passing.includes(error.status)) timer = window.setTimeout(() => again((n) => n + 1), 2000);
      },
    );
    return () => { stop.abort(); clearTimeout(timer); };
  }, [key, attempt]);
  if (!key) return { loading: false };
  if (cache.has(key)) return { loading: false, value: cache.get(key) as T };
  return state.key === key ? state : { loading: true };
}
