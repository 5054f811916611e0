// The best time so far against the number of trials: steps, with the trials as points behind them.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Data } from "../model/data";
import { logAxis } from "../geometry/axis";
import { count, time } from "../lib/format";
import { Numbers } from "../lib/parts";
import { use } from "../lib/store";
import { theme, type Theme } from "../lib/theme";

/** Trials in the order of their numbers, their times, and the best of each and those before. */
export function course(d: Data): { trial: Float64Array; time: Float64Array; best: Float64Array } {
  const rows = d.order.slice().sort((a, b) => d.trial[a] - d.trial[b]);
  const trial = new Float64Array(rows.length), us = new Float64Array(rows.length), best = new Float64Array(rows.length);
  let least = Infinity;
  rows.forEach((r, i) => {
    trial[i] = d.trial[r];
    us[i] = d.time[r];
    best[i] = least = Math.min(least, d.time[r]);
  });
  return { trial, time: us, best };
}

/** Some of many trials: every step of the best is kept, and of the others every so many. */
export function thin(c: ReturnType<typeof course>, most: number): ReturnType<typeof course> {
  const every = Math.ceil(c.best.length / most);
  if (every <= 1) return c;
  const keep: number[] = [];
  c.best.forEach((b, i) => { if (i % every === 0 || i === c.best.length - 1 || b !== c.best[i - 1]) keep.push(i); });
  const pick = (a: Float64Array) => Float64Array.from(keep, (i) => a[i]);
  return { trial: pick(c.trial), time: pick(c.time), best: pick(c.best) };
}

export function BestSoFar(p: { data: Data; height: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const name = use((s) => s.theme);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    watch.observe(box.current!);
    setWidth(box.current!.clientWidth);
    return () => watch.disconnect();
  }, []);
  const c = useMemo(() => thin(course(p.data), 3000), [p.data]);
  useEffect(() => {
    if (!width) return;
    const plot = new uPlot(options(width, p.height, theme(name)), [c.trial, c.time, c.best], box.current!);
    return () => plot.destroy();
  }, [p.data, width, name, p.height]);
  const steps: (string | number)[][] = [];
  c.best.forEach((b, i) => { if (i === 0 || b < c.best[i - 1]) steps.push([count(c.trial[i]), time(b)]); });
  const last = steps[steps.length - 1];
  return (
    <>
      <div ref={box} role="img" aria-label={last ? `Best so far: ${time(c.best[0])} at first, ${last[1]} from trial ${last[0]} on` : "Nothing so far"} style={{ minHeight: p.height + "px" }} />
      <Numbers name="Best so far" head={["From trial", "Best time"]} rows={() => steps} />
    </>
  );
}

/** Without anything pointed at the legend has names and no values. */
function idle(u: uPlot): void {
  u.root.classList.toggle("idle", u.cursor.idx === null || u.cursor.idx === undefined);
}

function options(width: number, height: number, t: Theme): uPlot.Options {
  const axis = { stroke: t.muted, grid: { stroke: t.line, width: 1 }, ticks: { stroke: t.line, width: 1 }, font: "12px system-ui, sans-serif" };
  return {
    width, height, legend: { show: width > 320 },
    hooks: { init: [idle], setCursor: [idle] }, cursor: { drag: { x: true, y: false } },
    scales: { x: { time: false }, y: { distr: 3, range: (_, least, most) => [(least ?? 1) * 0.93, (most ?? 10) * 1.07] } },
    axes: [
      { ...axis, incrs: [1, 2, 5].flatMap((n) => [n, n * 10, n * 100, n * 1e3, n * 1e4, n * 1e5]).sort((a, b) => a - b), values: (_, v) => v.map((x) => count(x)) },
      { ...axis, size: 76, splits: (_, __, low, high) => logAxis(low, high, 0, 1, 5).ticks, filter: (_, splits) => splits, values: (_, v) => v.map((x) => (x === null ? "" : time(x))) },
    ],
    series: [
      { label: "Trial", value: (_, v) => (v === null ? "–" : count(v)) },
      { label: "Time of a trial", stroke: t.strong, paths: () => null, points: { show: true, size: 3, fill: t.strong, stroke: t.strong }, value: (_, v) => (v === null ? "–" : time(v)) },
      { label: "Best so far", stroke: t.mark, width: 2, paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false }, value: (_, v) => (v === null ? "–" : time(v)) },
    ],
  };
}
