// Colours of the theme for drawing, and ramps from fast to slow.
import { interpolateViridis, interpolateYlGnBu } from "d3-scale-chromatic";
import { current, set } from "./store";

export interface Theme {
  dark: boolean;
  text: string;
  muted: string;
  line: string;
  strong: string;
  surface: string;
  sunken: string;
  accent: string;
  mark: string;
  /** Of speed: 0 the fastest, 1 the slowest. The fastest has the strongest contrast to the surface. */
  ramp(slow: number): string;
}

const themes: Partial<Record<"light" | "dark", Theme>> = {};

export function theme(name: "light" | "dark"): Theme {
  return (themes[name] ??= make(name));
}

function make(name: "light" | "dark"): Theme {
  const style = getComputedStyle(document.documentElement);
  const v = (key: string) => style.getPropertyValue("--" + key).trim();
  const dark = name === "dark";
  const steps = Array.from({ length: 64 }, (_, i) => {
    const slow = i / 63;
    return dark ? interpolateViridis(0.98 - 0.86 * slow) : interpolateYlGnBu(0.98 - 0.8 * slow);
  });
  return {
    dark, text: v("text"), muted: v("muted"), line: v("line"), strong: v("line-strong"), surface: v("surface"),
    sunken: v("sunken"), accent: v("accent"), mark: v("mark"),
    ramp: (slow) => steps[Math.max(0, Math.min(63, Math.round(slow * 63)))],
  };
}

const key = "warptune-theme";

export function startTheme(): void {
  let kept: string | null = null;
  try { kept = localStorage.getItem(key); } catch { /* a file may have no storage */ }
  const system = matchMedia("(prefers-color-scheme: dark)");
  show(kept === "dark" || kept === "light" ? kept : system.matches ? "dark" : "light");
  system.addEventListener("change", (e) => { if (!kept) show(e.matches ? "dark" : "light"); });
}

export function otherTheme(): void {
  const next = current().theme === "dark" ? "light" : "dark";
  try { localStorage.setItem(key, next); } catch { /* not kept then */ }
  show(next);
}

function show(name: "light" | "dark"): void {
  document.documentElement.dataset.theme = name;
  set({ theme: name });
}
