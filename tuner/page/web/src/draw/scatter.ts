// Draws predicted against measured times: the diagonal and the pairs.
import { logAxis } from "../geometry/axis";
import { finder } from "../geometry/nearest";
import { span } from "../geometry/scatter";
import type { Drawn, Hit } from "../lib/chart";
import { time, times } from "../lib/format";
import type { Theme } from "../lib/theme";

export interface Pairs { predicted: number[]; measured: number[]; text(i: number): string }

export function drawScatter(ctx: CanvasRenderingContext2D, w: number, h: number, t: Theme, p: Pairs, chosenAt: number): Drawn {
  const left = 70, right = w - 28, bottom = h - 44, top = 12;
  const [low, high] = span(p.predicted, p.measured);
  const x = logAxis(low, high, left, right, 5), y = logAxis(low, high, bottom, top, 5);
  frame(ctx, t, x, y, left, right, bottom, top);
  ctx.strokeStyle = t.text;
  ctx.lineWidth = 1.5;
  line(ctx, x(low), y(low), x(high), y(high));
  const n = p.predicted.length, points = { x: new Float32Array(n), y: new Float32Array(n), row: new Uint32Array(n) };
  const size = n > 2000 ? 2 : 4;
  for (let i = 0; i < n; i++) {
    points.x[i] = x(p.predicted[i]);
    points.y[i] = y(p.measured[i]);
    points.row[i] = i;
    disc(ctx, points.x[i], points.y[i], size, t.accent, t.surface);
  }
  if (chosenAt >= 0) disc(ctx, points.x[chosenAt], points.y[chosenAt], 7, t.mark, t.surface);
  const find = finder(points, w, h);
  const hit = (i: number): Hit => ({
    x: points.x[i], y: points.y[i], id: i,
    text: `predicted ${time(p.predicted[i])}, measured ${time(p.measured[i])} (${times(p.measured[i] / p.predicted[i])})\n${p.text(i)}`,
  });
  return {
    hit: (px, py) => { const i = find(px, py); return i < 0 ? null : hit(i); },
    walk(from, dx, dy) {
      const i = from ? from.id + (dx || dy) : Math.max(0, chosenAt);
      return i < 0 || i >= n ? from : hit(i);
    },
  };
}

type Axis = ReturnType<typeof logAxis>;

function frame(ctx: CanvasRenderingContext2D, t: Theme, x: Axis, y: Axis, left: number, right: number, bottom: number, top: number): void {
  ctx.strokeStyle = t.line;
  ctx.fillStyle = t.muted;
  ctx.lineWidth = 1;
  ctx.textBaseline = "middle";
  let free = left - 20;
  for (const v of x.ticks) {
    line(ctx, x(v), top, x(v), bottom);
    const half = ctx.measureText(time(v)).width / 2;
    if (x(v) - half < free) continue;
    free = x(v) + half + 8;
    ctx.textAlign = "center";
    ctx.fillText(time(v), x(v), bottom + 13);
  }
  for (const v of y.ticks) {
    line(ctx, left, y(v), right, y(v));
    ctx.textAlign = "right";
    ctx.fillText(time(v), left - 6, y(v));
  }
  ctx.fillStyle = t.text;
  ctx.textAlign = "center";
  ctx.fillText("predicted time →", (left + right) / 2, bottom + 31);
  ctx.save();
  ctx.translate(10, (top + bottom) / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText("measured time →", 0, 0);
  ctx.restore();
}

function disc(ctx: CanvasRenderingContext2D, x: number, y: number, r: number, fill: string, edge: string): void {
  ctx.fillStyle = fill;
  ctx.strokeStyle = edge;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 7);
  ctx.fill();
  ctx.stroke();
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
