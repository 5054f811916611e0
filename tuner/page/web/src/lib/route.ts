// The address's fragment: #/SWEEP/VIEW?trial=N&other=N.
import { current, set, type Route } from "./store";
import { none } from "../model/filter";

export function parse(hash: string): Route {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [sweep = "", view = ""] = path.split("/").map(decodeURIComponent);
  const q = new URLSearchParams(query);
  const number = (name: string) => (/^\d+$/.test(q.get(name) ?? "") ? Number(q.get(name)) : undefined);
  return { sweep, view, trial: number("trial"), other: number("other") };
}

export function href(r: Partial<Route>): string {
  const route = { ...current().route, ...r };
  const q = new URLSearchParams();
  if (route.trial !== undefined) q.set("trial", String(route.trial));
  if (route.other !== undefined) q.set("other", String(route.other));
  const path = [route.sweep, route.view].filter(Boolean).map(encodeURIComponent).join("/");
  return `#/${path}${q.size ? "?" + q : ""}`;
}

export const go = (r: Partial<Route>): void => void (location.hash = href(r));

/** Choosing a configuration changes the address, not the history. */
export function choose(trial: number | undefined, other = current().route.other): void {
  history.replaceState(null, "", href({ trial, other }));
  follow();
}

export function follow(): void {
  const route = parse(location.hash);
  const before = current().route;
  set({ route, ...(route.sweep !== before.sweep ? { filter: none, columns: undefined, sort: undefined } : {}) });
}
