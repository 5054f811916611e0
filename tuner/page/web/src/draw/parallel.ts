// Draws parallel coordinates: ribbons between neighbouring axes, lines of the fastest, the axes and their values.
import type { Column } from "../geometry/column";
import { classes, timeAxis, type Ribbon } from "../geometry/parallel";
import { speedScale, type Data } from "../model/data";
import type { Drawn, Hit } from "../lib/chart";
import { count, time } from "../lib/format";
import type { Theme } from "../lib/theme";

export const steps = 48; // classes of the axis of times
const top = 34, bottom = 16;

const most = 64; // classes of an axis

export interface Axis {
  name: string;
  column: Column;
  labels: string[];
  /** The parameter's values, and the first of each class; 0 and none for the time. */
  values: number;
  first: number[];
}

export function makeAxes(d: Data): Axis[] {
  const axes: Axis[] = d.params.filter((p) => p.size > 1).map((p) => {
    const { column, first } = classes(p, most);
    return { name: p.name, column, labels: first.map((v) => String(p.values[v])), values: p.size, first };
  });
  if (!d.order.length) return axes;
  const column = timeAxis(d.time, timeAt(d, 0), timeAt(d, 1), steps);
  axes.push({ name: "time", column, labels: Array.from({ length: steps }, (_, i) => time(timeAt(d, i / steps))), values: 0, first: [] });
  return axes;
}

/** The time at a share of the axis, which is of the logarithm. */
export function timeAt(d: Data, share: number): number {
  const slack = share === 0 ? 1 - 1e-12 : share === 1 ? 1 + 1e-12 : 1; // the ends let the first and the last through
  return d.fastest * (d.slowest / d.fastest) ** share * slack;
}

/** What was drawn, and where: the axis at a place, and the value of an axis there. */
export interface DrawnAxes extends Drawn {
  axis(x: number): number;
  value(axis: number, y: number): number;
}

export function drawParallel(ctx: CanvasRenderingContext2D, w: number, h: number, t: Theme, axes: Axis[], list: Ribbon[], d: Data, shown: Uint32Array): DrawnAxes {
  const left = 34, right = 66, scale = speedScale(d);
  const ax = (i: number) => left + (i * (w - left - right)) / (axes.length - 1);
  const inner = h - top - bottom;
  const vy = (i: number, code: number) => top + ((code + 0.5) * inner) / axes[i].column.size;
  const widest = list.reduce((m, r) => Math.max(m, r.rows), 1);
  for (const r of list) {
    ctx.strokeStyle = t.ramp(scale(r.best));
    ctx.globalAlpha = 0.22;
    ctx.lineWidth = 0.6 + 13 * Math.sqrt(r.rows / widest) * Math.min(1, 10 / Math.max(axes[r.axis].column.size, axes[r.axis + 1].column.size));
    curve(ctx, ax(r.axis), vy(r.axis, r.from), ax(r.axis + 1), vy(r.axis + 1, r.to));
  }
  ctx.globalAlpha = 0.6;
  ctx.lineWidth = 1.4;
  for (let k = Math.min(shown.length, 40) - 1; k >= 0; k--) line(ctx, shown[k], axes, ax, vy, k === 0 ? t.mark : t.ramp(scale(d.time[shown[k]])), k === 0 ? 3 : 1.4);
  ctx.globalAlpha = 1;
  axes.forEach((a, i) => axisAt(ctx, t, a, ax(i), h, inner, i === axes.length - 1, (w - left - right) / (axes.length - 1)));
  const code = (i: number, y: number) => Math.max(0, Math.min(axes[i].column.size - 1, Math.floor(((y - top) / inner) * axes[i].column.size)));
  const nearest = (x: number) => {
    const i = Math.round(((x - left) / (w - left - right)) * (axes.length - 1));
    return i >= 0 && i < axes.length && Math.abs(ax(i) - x) < 22 ? i : -1;
  };
  const hit = (i: number, c: number): Hit => ({
    x: ax(i), y: vy(i, c), id: i * 1000 + c,
    text: !axes[i].values ? `up to ${time(timeAt(d, (c + 1) / steps))}` : `${axes[i].name} = ${axes[i].labels[c]}: ${count(rowsWith(axes[i].column, c, shown))} configurations`,
  });
  return {
    axis: nearest, value: code,
    hit: (x, y) => { const i = nearest(x); return i < 0 ? null : hit(i, code(i, y)); },
    walk(from, dx, dy) {
      const i = from ? Math.floor(from.id / 1000) + dx : 0, c = from && !dx ? (from.id % 1000) + dy : 0;
      return i < 0 || i >= axes.length || c < 0 || c >= axes[i].column.size ? from : hit(i, c);
    },
  };
}

function rowsWith(c: Column, code: number, shown: Uint32Array): number {
  let n = 0;
  for (const r of shown) if (c.codes[r] === code) n++;
  return n;
}

function curve(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const middle = (x0 + x1) / 2;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(middle, y0, middle, y1, x1, y1);
  ctx.stroke();
}

function line(ctx: CanvasRenderingContext2D, row: number, axes: Axis[], ax: (i: number) => number, vy: (i: number, c: number) => number, colour: string, width: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  for (let i = 0; i + 1 < axes.length; i++) curve(ctx, ax(i), vy(i, axes[i].column.codes[row]), ax(i + 1), vy(i + 1, axes[i + 1].column.codes[row]));
}

function axisAt(ctx: CanvasRenderingContext2D, t: Theme, a: Axis, x: number, h: number, inner: number, last: boolean, room: number): void {
  ctx.strokeStyle = t.strong;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, h - bottom);
  ctx.stroke();
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  ctx.fillStyle = t.text;
  let name = a.name;
  while (name.length > 3 && ctx.measureText(name).width > room - 4) name = name.slice(0, -2) + "…";
  ctx.fillText(name, last ? x + 10 : x, 12);
  const every = Math.ceil((a.column.size * 15) / inner);
  ctx.textAlign = "left";
  a.labels.forEach((l, c) => {
    if (c % every) return;
    const y = top + ((c + 0.5) * inner) / a.column.size, width = ctx.measureText(l).width;
    ctx.fillStyle = t.surface;
    ctx.globalAlpha = 0.85;
    ctx.fillRect(x + 4, y - 7, width + 4, 14);
    ctx.globalAlpha = 1;
    ctx.fillStyle = t.muted;
    ctx.fillText(l, x + 6, y);
  });
}
