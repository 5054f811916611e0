// Keys that work everywhere but where text is typed.
import { views } from "../views";
import { current } from "./store";
import { choose, go } from "./route";
import { otherTheme } from "./theme";

export const help: [string, string][] = [
  ["1 … 9, 0", "go to a view, by its place in the list"],
  ["Tab, Shift Tab", "go to the next or previous control"],
  ["Arrows", "in a picture or a table: go from mark to mark"],
  ["Enter", "in a picture or a table: choose the configuration"],
  ["c", "compare the configuration shown with the best"],
  ["b", "back to the best configuration"],
  ["f", "go to the filter"],
  ["t", "dark or light"],
  ["?", "this list"],
];

export function startKeys(): void {
  addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(input|select|textarea)$/i.test(target.tagName)) return;
    if (act(e.key)) e.preventDefault();
  });
}

function act(key: string): boolean {
  const { route } = current();
  if (/^[0-9]$/.test(key) && route.sweep) {
    const view = views[key === "0" ? 9 : Number(key) - 1];
    if (view) go({ view: view.id });
    return true;
  }
  switch (key) {
    case "c": if (route.trial !== undefined) go({ view: "compare", other: route.trial, trial: undefined }); return true;
    case "b": choose(undefined); return true;
    case "t": otherTheme(); return true;
    case "f": return focus("filter-summary");
    case "?": (document.getElementById("help") as HTMLDialogElement | null)?.showModal(); return true;
  }
  return false;
}

function focus(id: string): boolean {
  const element = document.getElementById(id);
  if (!element) return false;
  const details = element.closest("details");
  if (details) details.open = true;
  element.focus();
  return true;
}
