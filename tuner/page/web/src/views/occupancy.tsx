// Occupancy against block size, registers and shared memory, with where the configuration is.
import { linearAxis } from "../geometry/axis";
import type * as doc from "../model/documents";
import { Chart, type Drawn, type Hit } from "../lib/chart";
import { ChosenBar, chosen, useExplained } from "../lib/chosen";
import { count, kib, percent } from "../lib/format";
import { Bars, Card, Numbers, Nothing } from "../lib/parts";
import { use } from "../lib/store";
import type { Theme } from "../lib/theme";
import type { ViewProps } from ".";
import { NotYet } from "./why";
import { NothingValid } from "./summary";

export function OccupancyView({ sweep, data }: ViewProps) {
  const route = use((s) => s.route);
  const c = chosen(data, route.trial);
  const explained = useExplained(sweep.id, c?.trial);
  if (!c) return route.trial === undefined ? <NothingValid sweep={sweep} /> : <ChosenBar d={data} />;
  const o = explained.value?.details[0]?.occupancy;
  return (
    <>
      <ChosenBar d={data} />
      <NotYet loaded={explained} d={data} sweep={sweep.id} />
      {explained.value && !o && <Nothing what="The occupancy of this configuration is not known." />}
      {o && <Occupancies o={o} arch={sweep.arch} />}
    </>
  );
}

const limits: Record<string, string> = { warps: "warps of an SM", blocks: "CTAs of an SM", registers: "registers", shared_mem: "shared memory", barriers: "barriers" };
const limitWords = (name: string): string => limits[name] ?? name.replaceAll("_", " ");

function Occupancies(p: { o: doc.Occupancy; arch: doc.Arch }) {
  const { o } = p, now = o.present;
  const resources = Object.entries(o.ctas_by_resource ?? {}).sort((a, b) => a[1] - b[1]);
  const most = Math.max(...resources.map(([, n]) => n), 1);
  return (
    <>
      <section class="card stack" aria-label="In a sentence">
        <p class="mid" style={{ fontWeight: 500 }}>
          {percent(now.share)} occupancy: {count(now.ctas)} CTAs of {count(now.threads)} threads, {count(now.warps)} of {count(p.arch.max_warps_per_sm)} warps on an SM, limited by {limitWords(now.limiter)}.
        </p>
        <p class="muted">{now.registers} registers a thread, {kib(now.shared_bytes)} of shared memory a CTA, carve-out {kib(now.carve_out_bytes)}. {nextStep(o)}</p>
        <Bars rows={resources.map(([name, n]) => ({ name: limitWords(name), share: n / most, text: `${count(n)} CTAs`, tone: n === now.ctas ? "hot" as const : undefined }))} />
        <p class="small muted">CTAs that each resource alone would allow. {o.note}</p>
      </section>
      <div class="grid2">
        <One title="Against block size" unit="threads a CTA" c={o.by_threads} at={now.threads} show={count} />
        <One title="Against registers" unit="registers a thread" c={o.by_registers} at={now.registers} show={count} />
        <One title="Against shared memory" unit="shared memory a CTA" c={o.by_shared_bytes} at={now.shared_bytes} show={kib} />
      </div>
    </>
  );
}

/** What less registers or shared memory would bring. */
function nextStep(o: doc.Occupancy): string {
  const step = (c: doc.Curve, at: number) => {
    for (let i = c.x.length - 1; i >= 0; i--) if (c.x[i] < at && c.share[i] > o.present.share + 1e-9) return { x: c.x[i], share: c.share[i] };
    return null;
  };
  const r = step(o.by_registers, o.present.registers), s = step(o.by_shared_bytes, o.present.shared_bytes);
  if (o.present.limiter === "registers" && r) return `With ${r.x} registers a thread it would be ${percent(r.share)}.`;
  if (o.present.limiter === "shared_mem" && s) return `With ${kib(s.x)} of shared memory it would be ${percent(s.share)}.`;
  return "";
}

function One(p: { title: string; unit: string; c: doc.Curve; at: number; show(v: number): string }) {
  const { c } = p;
  return (
    <Card title={p.title}>
      <Chart height={210} label={`${p.title}: arrows go along the curve`} deps={[c, p.at]} draw={(ctx, w, h, t) => draw(ctx, w, h, t, c, p)} />
      <Numbers name={p.title} head={[p.unit, "CTAs", "Warps", "Occupancy", "Limited by"]} rows={() => c.x.map((x, i) => [p.show(x), c.ctas[i], c.warps[i], percent(c.share[i]), limitWords(c.limiter[i])])} />
    </Card>
  );
}

function draw(ctx: CanvasRenderingContext2D, w: number, h: number, t: Theme, c: doc.Curve, p: { at: number; unit: string; show(v: number): string }): Drawn {
  const left = 46, right = 14, top = 12, bottom = h - 38;
  const x = linearAxis(c.x[0], c.x[c.x.length - 1], left, w - right, 5), y = linearAxis(0, 1, bottom, top, 4);
  ctx.strokeStyle = t.line;
  ctx.fillStyle = t.muted;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const v of [0, 0.25, 0.5, 0.75, 1]) {
    ctx.beginPath();
    ctx.moveTo(left, y(v));
    ctx.lineTo(w - right, y(v));
    ctx.stroke();
    ctx.fillText(percent(v), left - 6, y(v));
  }
  ctx.textAlign = "center";
  const ticks = c.x[c.x.length - 1] > 10000 ? Array.from({ length: 5 }, (_, i) => Math.round((c.x[c.x.length - 1] * i) / 4 / 1024) * 1024) : x.ticks;
  for (const v of ticks) ctx.fillText(p.show(v), Math.min(x(v), w - right - 18), bottom + 12);
  ctx.fillStyle = t.text;
  ctx.fillText(p.unit, (left + w) / 2, bottom + 29);
  ctx.strokeStyle = t.accent;
  ctx.lineWidth = 2;
  ctx.beginPath();
  c.x.forEach((v, i) => {
    if (i) ctx.lineTo(x(v), y(c.share[i - 1]));
    ctx[i ? "lineTo" : "moveTo"](x(v), y(c.share[i]));
  });
  ctx.stroke();
  const nearest = (v: number) => c.x.reduce((best, q, i) => (Math.abs(q - v) < Math.abs(c.x[best] - v) ? i : best), 0);
  const upTo = (v: number) => Math.max(0, c.x.findLastIndex((q) => q <= v));
  const now = c.x.includes(p.at) ? c.x.indexOf(p.at) : upTo(p.at);
  ctx.fillStyle = t.mark;
  ctx.strokeStyle = t.surface;
  ctx.beginPath();
  ctx.arc(x(p.at), y(c.share[now]), 6, 0, 7);
  ctx.fill();
  ctx.stroke();
  const hit = (i: number): Hit => ({ x: x(c.x[i]), y: y(c.share[i]), id: i, text: `${p.show(c.x[i])} ${p.unit}: ${percent(c.share[i])}\n${c.ctas[i]} CTAs, ${c.warps[i]} warps, limited by ${limitWords(c.limiter[i])}` });
  return { hit: (px) => hit(nearest(x.invert(px))), walk: (from, dx) => hit(Math.max(0, Math.min(c.x.length - 1, from ? from.id + dx : now))) };
}
