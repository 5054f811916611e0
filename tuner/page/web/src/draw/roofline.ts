// Draws a roofline: the roof, ceilings, and every configuration as a point.
import type * as doc from "../model/documents";
import { finder } from "../geometry/nearest";
import { logAxis } from "../geometry/axis";
import { bounds, type Place } from "../geometry/roofline";
import { config, configText, speedScale, type Data } from "../model/data";
import type { Drawn, Hit } from "../lib/chart";
import { si, time } from "../lib/format";
import type { Theme } from "../lib/theme";

export function drawRoofline(ctx: CanvasRenderingContext2D, w: number, h: number, t: Theme, d: Data, p: Place, chosenAt: number, r: doc.Roofline, traffic: doc.Traffic, unit: string): Drawn {
  const left = 62, right = 12, bottom = h - 42, topY = 12;
  const ceilings = r.ceilings.map((x) => x.per_second);
  const b = bounds(p, traffic.bytes_per_second, ceilings);
  const x = logAxis(b.x[0], b.x[1], left, w - right), y = logAxis(b.y[0], b.y[1], bottom, topY);
  grid(ctx, t, x.ticks, y.ticks, x, y, left, w - right, bottom, topY, unit);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, topY, w - right - left, bottom - topY);
  ctx.clip();
  roofs(ctx, t, x, y, b, r, traffic, ceilings, w - right, unit);
  const points = { x: new Float32Array(p.x.length), y: new Float32Array(p.x.length), row: p.row };
  const scale = speedScale(d), size = p.x.length > 20_000 ? 2 : p.x.length > 2000 ? 3 : 5;
  for (let i = p.x.length - 1; i >= 0; i--) {
    points.x[i] = x(p.x[i]);
    points.y[i] = y(p.y[i]);
    ctx.fillStyle = t.ramp(scale(d.time[p.row[i]]));
    ctx.fillRect(points.x[i] - size / 2, points.y[i] - size / 2, size, size);
  }
  ctx.restore();
  if (chosenAt >= 0) {
    ctx.fillStyle = t.mark;
    ctx.strokeStyle = t.surface;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(points.x[chosenAt], points.y[chosenAt], 7, 0, 7);
    ctx.fill();
    ctx.stroke();
  }
  const find = finder(points, w, h);
  const hit = (i: number): Hit => ({
    x: points.x[i], y: points.y[i], id: p.row[i],
    text: `${time(d.time[p.row[i]])} · ${si(p.y[i], unit + "/s")} at ${p.x[i].toPrecision(3)} ${unit} a byte\n${configText(config(d, p.row[i]))}`,
  });
  return {
    hit: (px, py) => { const i = find(px, py); return i < 0 ? null : hit(i); },
    walk(from, dx, dy) {
      if (!p.x.length) return null;
      const i = from ? p.row.indexOf(from.id) + (dx || dy) : Math.max(0, chosenAt);
      return i < 0 || i >= p.x.length ? from : hit(i);
    },
  };
}

type Scale = (v: number) => number;

function roofs(ctx: CanvasRenderingContext2D, t: Theme, x: Scale, y: Scale, b: ReturnType<typeof bounds>, r: doc.Roofline, traffic: doc.Traffic, ceilings: number[], right: number, unit: string): void {
  const top = Math.max(...ceilings);
  for (const level of r.traffic) {
    const main = level === traffic, slope = level.bytes_per_second, ridge = top / slope;
    ctx.strokeStyle = main ? t.text : t.strong;
    ctx.lineWidth = main ? 2 : 1;
    ctx.setLineDash(main ? [] : [4, 4]);
    ctx.beginPath();
    ctx.moveTo(x(b.x[0]), y(b.x[0] * slope));
    ctx.lineTo(x(ridge), y(top));
    if (main) ctx.lineTo(x(b.x[1]), y(top));
    ctx.stroke();
    alongSlope(ctx, t, `${level.level} ${si(slope, "B/s")}`, x, y, b, slope, top, main);
  }
  ctx.setLineDash([]);
  const taken: number[] = [];
  for (const c of [...r.ceilings].sort((a, z) => z.per_second - a.per_second)) {
    const yc = y(c.per_second);
    ctx.strokeStyle = c.per_second === top ? t.text : t.strong;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x(Math.max(b.x[0], c.per_second / traffic.bytes_per_second)), yc);
    ctx.lineTo(x(b.x[1]), yc);
    ctx.stroke();
    if (taken.some((v) => Math.abs(v - yc) < 14)) continue;
    taken.push(yc);
    label(ctx, t, `${c.unit} ${si(c.per_second, unit + "/s")}`, right - 6, yc - 8, "right");
  }
}

function alongSlope(ctx: CanvasRenderingContext2D, t: Theme, text: string, x: Scale, y: Scale, b: ReturnType<typeof bounds>, slope: number, top: number, main: boolean): void {
  const from = Math.max(b.x[0], b.y[0] / slope), to = Math.min(b.x[1], top / slope);
  if (to <= from) return;
  const at = from * (to / from) ** 0.3;
  const angle = Math.atan2(y(to * slope) - y(from * slope), x(to) - x(from));
  ctx.save();
  ctx.setLineDash([]);
  ctx.translate(x(at), y(at * slope));
  ctx.rotate(angle);
  label(ctx, t, text, 0, -9, "left", main);
  ctx.restore();
}

function label(ctx: CanvasRenderingContext2D, t: Theme, text: string, x: number, y: number, align: CanvasTextAlign, strong = true): void {
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.strokeStyle = t.surface;
  ctx.lineWidth = 3;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = strong ? t.text : t.muted;
  ctx.fillText(text, x, y);
}

function grid(ctx: CanvasRenderingContext2D, t: Theme, xs: number[], ys: number[], x: Scale, y: Scale, left: number, right: number, bottom: number, top: number, unit: string): void {
  ctx.strokeStyle = t.line;
  ctx.fillStyle = t.muted;
  ctx.lineWidth = 1;
  ctx.textBaseline = "middle";
  for (const v of xs) {
    segment(ctx, x(v), top, x(v), bottom);
    ctx.textAlign = "center";
    ctx.fillText(v >= 0.001 && v < 10000 ? String(Number(v.toPrecision(3))) : v.toExponential(0), x(v), bottom + 12);
  }
  for (const v of ys) {
    segment(ctx, left, y(v), right, y(v));
    ctx.textAlign = "right";
    ctx.fillText(si(v, "").trim(), left - 6, y(v));
  }
  ctx.fillStyle = t.text;
  ctx.textAlign = "center";
  ctx.fillText(`intensity: ${unit} a byte →`, (left + right) / 2, bottom + 30);
  ctx.save();
  ctx.translate(12, (top + bottom) / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(`${unit} a second →`, 0, 0);
  ctx.restore();
}

function segment(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
