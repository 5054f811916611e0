// What the page knows and what is chosen. Views read it by use, and change it by set.
import { useEffect, useState } from "preact/hooks";
import type * as doc from "../model/documents";
import type { Data } from "../model/data";
import type { Filter } from "../model/filter";
import { none } from "../model/filter";

/** What a sweep's documents say, as far as they have been read. */
export interface SweepDocs {
  id: string;
  data?: Data;
  failures?: doc.Failures;
  importance?: doc.Importance;
  problem?: string;
}

export interface Route {
  sweep: string;
  view: string;
  /** The chosen configuration's trial; undefined for the best. */
  trial?: number;
  /** The one that it is compared with. */
  other?: number;
}

export interface State {
  overview?: doc.Overview;
  problem?: string;
  docs?: SweepDocs;
  route: Route;
  filter: Filter;
  theme: "light" | "dark";
  /** Names of the columns that the table shows; undefined for those that the server proposes. */
  columns?: string[];
  sort?: { column: string; down: boolean };
  /** What is read aloud. */
  said: string;
}

let state: State = { route: { sweep: "", view: "" }, filter: none, theme: "light", said: "" };
const listeners = new Set<() => void>();

export const current = (): State => state;

export function set(patch: Partial<State>): void {
  state = { ...state, ...patch };
  for (const l of [...listeners]) l();
}

export function use<T>(pick: (s: State) => T): T {
  const [value, change] = useState(() => pick(state));
  useEffect(() => {
    const listen = () => change(() => pick(state));
    listeners.add(listen);
    listen();
    return () => void listeners.delete(listen);
  }, []);
  return value;
}

export const say = (text: string): void => set({ said: text });
