// The heat map of two parameters.
import { useMemo, useState } from "preact/hooks";
import { heat, type Cell, type Of } from "../geometry/heat";
import { type Param } from "../model/data";
import { Chart, type Drawn, type Hit } from "../lib/chart";
import { FilterBar, useShown } from "../lib/filterbar";
import { count, time, times } from "../lib/format";
import { Card, Choice, Numbers, Ramp, Nothing } from "../lib/parts";
import { choose, go } from "../lib/route";
import { use } from "../lib/store";
import { theme, type Theme } from "../lib/theme";
import type { ViewProps } from ".";
import { chosenPair } from "./parameters";

export function HeatMap({ data, docs }: ViewProps) {
  const shown = useShown(data);
  const name = use((s) => s.theme);
  const many = data.params.filter((p) => p.size > 1);
  const [pair, setPair] = useState<[string, string]>(() => first(many, [...(docs.importance?.interactions?.[0]?.parameters ?? []), ...(docs.importance?.main?.map((m) => m.parameter) ?? [])]));
  const [of, setOf] = useState<Of>("best");
  const a = many.find((p) => p.name === pair[0]), b = many.find((p) => p.name === pair[1]);
  const cells = useMemo(() => (a && b ? heat(a, b, data.time, shown, of) : []), [a, b, data, shown, of]);
  if (!a || !b) return <Nothing what="A heat map takes two parameters with more than one value." />;
  const names: [string, string][] = many.map((p) => [p.name, p.name]);
  const t = theme(name), scale = cellScale(cells);
  const height = Math.min(640, Math.max(220, b.size * 44 + 60));
  const best = shown.length ? data.time[shown[0]] : NaN;
  const pick = (h: Hit) => {
    const cell = cells[h.id];
    if (cell.best >= 0) { choose(data.trial[cell.best]); go({ view: "why" }); }
  };
  return (
    <>
      <FilterBar d={data} shown={shown} />
      <Card title={`${a.name} and ${b.name}`} about={`The ${of === "best" ? "fastest" : "median"} time of the configurations with each pair of values. Choose a cell to see why its best is as fast as it is.`}
        tools={<>
          <Choice label="Across" value={pair[0]} of={names} change={(v) => setPair([v, v === pair[1] ? pair[0] : pair[1]])} />
          <Choice label="Down" value={pair[1]} of={names} change={(v) => setPair([v === pair[0] ? pair[1] : pair[0], v])} />
          <Choice label="Show" value={of} of={[["best", "fastest"], ["median", "median"]]} change={(v) => setOf(v)} />
        </>}>
        <Chart height={height} label={`Heat map of ${a.name} and ${b.name}: arrows go from cell to cell, Enter chooses`} deps={[cells]} choose={pick}
          draw={(ctx, w, h, th) => draw(ctx, w, h, th, cells, a, b, scale, best)} />
        <div class="legend" style={{ marginTop: "8px" }}>
          <Ramp colours={[0, 0.25, 0.5, 0.75, 1].map(t.ramp)} from="the fastest cell" to="the slowest" />
          <span>Empty cells have no valid configuration.</span>
        </div>
        <Numbers name="Heat map" head={[`${b.name} \\ ${a.name}`, ...a.values.slice(0, 100).map(String)]}
          rows={() => b.values.slice(0, 100).map((v, y) => [String(v), ...a.values.slice(0, 100).map((_, x) => time(cells[y * a.size + x].value))])} />
      </Card>
    </>
  );
}

/** A cell's place between the fastest (0) and the slowest (1) cell, by logarithm. */
function cellScale(cells: Cell[]): (us: number) => number {
  let low = Infinity, high = 0;
  for (const c of cells) if (c.best >= 0) { low = Math.min(low, c.value); high = Math.max(high, c.value); }
  const span = Math.log(high / low) || 1;
  return (us) => Math.log(us / low) / span;
}

function first(many: Param[], ranked: string[]): [string, string] {
  const pair = chosenPair.pair ?? [...ranked, ...many.map((p) => p.name)].filter((n, i, all) => all.indexOf(n) === i);
  return [pair[0] ?? "", pair[1] ?? ""];
}

function draw(ctx: CanvasRenderingContext2D, w: number, h: number, t: Theme, cells: Cell[], a: Param, b: Param, scale: (us: number) => number, best: number): Drawn {
  const left = Math.min(110, 20 + Math.max(...b.values.map((v) => ctx.measureText(String(v)).width))), bottom = 44, right = 4;
  const cw = (w - left - right) / a.size, ch = (h - bottom) / b.size;
  const box = (c: Cell): [number, number, number, number] => [left + c.x * cw + 1, c.y * ch + 1, Math.max(1, cw - 2), Math.max(1, ch - 2)];
  ctx.textBaseline = "middle";
  for (const c of cells) {
    const [x, y, bw, bh] = box(c);
    ctx.fillStyle = c.best < 0 ? t.sunken : t.ramp(scale(c.value));
    ctx.fillRect(x, y, bw, bh);
    const text = c.best < 0 ? "" : time(c.value);
    if (text && bw > ctx.measureText(text).width + 6 && bh > 15) {
      ctx.fillStyle = (scale(c.value) < 0.45) === t.dark ? "#10151f" : "#ffffff";
      ctx.textAlign = "center";
      ctx.fillText(text, x + bw / 2, y + bh / 2);
    }
  }
  labels(ctx, t, a, b, left, cw, ch, h - bottom, w);
  const hit = (c: Cell): Hit => {
    const [x, y, bw, bh] = box(c);
    const said = c.best < 0 ? "no valid configuration" : `${time(c.value)}, ${times(c.value / best)} the best's; ${count(c.rows)} configurations`;
    return { x: x + bw / 2, y: y + bh / 2, box: box(c), id: c.y * a.size + c.x, text: `${a.name}=${a.values[c.x]}, ${b.name}=${b.values[c.y]}\n${said}` };
  };
  return {
    hit(px, py) {
      const x = Math.floor((px - left) / cw), y = Math.floor(py / ch);
      return x < 0 || y < 0 || x >= a.size || y >= b.size ? null : hit(cells[y * a.size + x]);
    },
    walk(from, dx, dy) {
      const x = from ? (from.id % a.size) + dx : 0, y = from ? Math.floor(from.id / a.size) + dy : 0;
      return x < 0 || y < 0 || x >= a.size || y >= b.size ? from : hit(cells[y * a.size + x]);
    },
  };
}

function labels(ctx: CanvasRenderingContext2D, t: Theme, a: Param, b: Param, left: number, cw: number, ch: number, bottom: number, w: number): void {
  ctx.fillStyle = t.muted;
  ctx.textAlign = "right";
  const everyY = Math.ceil(14 / ch);
  b.values.forEach((v, y) => { if (y % everyY === 0) ctx.fillText(String(v), left - 6, y * ch + ch / 2); });
  ctx.textAlign = "center";
  const widest = Math.max(...a.values.map((v) => ctx.measureText(String(v)).width)) + 6;
  const everyX = Math.ceil(widest / cw);
  a.values.forEach((v, x) => { if (x % everyX === 0) ctx.fillText(String(v), left + x * cw + cw / 2, bottom + 12); });
  ctx.fillStyle = t.text;
  ctx.fillText(`across: ${a.name}, down: ${b.name}`, (left + w) / 2, bottom + 32);
}

