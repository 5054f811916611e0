// Parallel coordinates: an axis for each parameter and one for the time. A press and drag along an axis, or Enter on
// one of its values, filters by what it covers.
import { useMemo, useRef } from "preact/hooks";
import { ribbons } from "../geometry/parallel";
import type { Data } from "../model/data";
import { only, range, toggle } from "../model/filter";
import { drawParallel, makeAxes, steps, timeAt, type Axis, type DrawnAxes } from "../draw/parallel";
import { Chart, type Hit } from "../lib/chart";
import { FilterBar, useShown } from "../lib/filterbar";
import { count, time } from "../lib/format";
import { Card, Numbers, Ramp, Nothing } from "../lib/parts";
import { current, set, use } from "../lib/store";
import { theme } from "../lib/theme";
import type { ViewProps } from ".";

export function Parallel({ data }: ViewProps) {
  const shown = useShown(data);
  const filter = use((s) => s.filter), t = theme(use((s) => s.theme));
  const geometry = useRef<DrawnAxes | null>(null);
  const brush = useRef<{ axis: number; from: number } | null>(null);
  const axes = useMemo(() => makeAxes(data), [data]);
  const list = useMemo(() => ribbons(axes.map((a) => a.column), data.time, shown), [axes, shown]);
  if (axes.length < 2 || !data.order.length) return <Nothing what="Nothing valid so far." />;
  const cover = (axis: number, a: number, b: number) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const { filter: f } = current(), one = axes[axis];
    if (!one.values) return set({ filter: range(f, "time_us", [timeAt(data, low / steps), timeAt(data, (high + 1) / steps)]) });
    const from = one.first[low], to = one.first[high + 1] ?? one.values;
    set({ filter: only(f, "params", one.name, Array.from({ length: to - from }, (_, i) => from + i), one.values) });
  };
  const flip = (axis: number, c: number) => {
    const one = axes[axis];
    if (one.values === one.column.size) set({ filter: toggle(current().filter, "params", one.name, c, one.values) });
    else cover(axis, c, c);
  };
  const drag = (phase: "start" | "move" | "end", x: number, y: number): boolean => {
    const g = geometry.current;
    if (!g) return false;
    if (phase === "start") {
      const axis = g.axis(x);
      if (axis < 0) return false;
      brush.current = { axis, from: g.value(axis, y) };
    } else if (phase === "end" && brush.current) {
      const { axis, from } = brush.current, to = g.value(axis, y);
      if (from === to && axes[axis].values) flip(axis, from);
      else cover(axis, from, to);
      brush.current = null;
    }
    return true;
  };
  const pick = (h: Hit) => {
    const axis = Math.floor(h.id / 1000), code = h.id % 1000;
    if (axes[axis].values) flip(axis, code);
    else cover(axis, 0, code);
  };
  return (
    <>
      <FilterBar d={data} shown={shown} />
      <Card title="Every configuration as a line" about="Drag along an axis to filter by what you cover; click one value to let only it through. Lines of the fastest are drawn on top.">
        <div style={{ overflowX: "auto" }}><div style={{ minWidth: 66 * axes.length + 60 + "px" }}><Chart height={430} label="Parallel coordinates: left and right go from axis to axis, up and down from value to value, Enter filters by it"
          deps={[list, filter]} drag={drag} choose={(h) => { if (!brush.current && h.id >= 0 && keyboard()) pick(h); }}
          draw={(ctx, w, h, th) => {
            const d = drawParallel(ctx, w, h, th, axes, list, data, shown);
            geometry.current = d;
            return d;
          }} /></div></div>
        <div class="legend" style={{ marginTop: "8px" }}>
          <Ramp colours={[0, 0.25, 0.5, 0.75, 1].map(t.ramp)} from="fast" to="slow" />
          <span>A ribbon is as wide as it has configurations.</span>
        </div>
        <Numbers name="Values let through" head={["Parameter", "Value", "Configurations", "Best time"]} rows={() => valueRows(axes, data, shown)} />
      </Card>
    </>
  );
}

/** Whether the event under way is of a key: the pointer's presses are brushes already. */
const keyboard = (): boolean => window.event instanceof KeyboardEvent;

function valueRows(axes: Axis[], d: Data, shown: Uint32Array): string[][] {
  return axes.filter((a) => a.values > 0).flatMap((a) => {
    const rows = new Uint32Array(a.column.size), best = new Float64Array(a.column.size).fill(NaN);
    for (const r of shown) {
      const c = a.column.codes[r];
      if (!rows[c]++) best[c] = d.time[r]; // the first is the fastest
    }
    return a.labels.slice(0, 60).map((l, c) => [a.name, l, count(rows[c]), time(best[c])]);
  });
}
