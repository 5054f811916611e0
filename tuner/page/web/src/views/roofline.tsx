// The roofline, every configuration a point.
import { useMemo, useState } from "preact/hooks";
import type * as doc from "../model/documents";
import { places, roof, type Place } from "../geometry/roofline";
import { config, configText, type Data } from "../model/data";
import { drawRoofline } from "../draw/roofline";
import { Chart } from "../lib/chart";
import { chosen, useExplained } from "../lib/chosen";
import { FilterBar, useShown } from "../lib/filterbar";
import { count, percent, si, time } from "../lib/format";
import { Card, Choice, Numbers, Ramp, Nothing } from "../lib/parts";
import { choose } from "../lib/route";
import { use } from "../lib/store";
import { theme } from "../lib/theme";
import type { ViewProps } from ".";

export function RooflineView({ data, sweep }: ViewProps) {
  const shown = useShown(data);
  const route = use((s) => s.route), t = theme(use((s) => s.theme));
  const [which, setWhich] = useState("0"), [level, setLevel] = useState("0");
  const c = chosen(data, route.trial);
  const one = useExplained(sweep.id, c?.trial).value?.document.configurations[0];
  const flop = useMemo(() => (data.rooflines.some((x) => x.work_of === "flop") ? null : flopRoofline(data, one)), [data, one]);
  const roofs = flop ? [...data.rooflines, flop] : data.rooflines;
  const r = roofs[Number(which)] ?? roofs[0];
  const traffic = r?.traffic[Number(level)] ?? r?.traffic[0];
  const place = useMemo(() => {
    if (!r || !traffic) return null;
    return r === flop && c ? onePlace(data, c.row, flopOf(one), traffic) : placesOf(data, r, traffic, shown);
  }, [data, shown, r, traffic, c?.row]);
  if (!r || !traffic || !place) return <Nothing what="What a roofline needs is not known of this sweep." />;
  const at = c ? place.row.indexOf(c.row) : -1;
  const unit = r.work_of === "flop" ? "FLOP" : r.work_of;
  return (
    <>
      <FilterBar d={data} shown={shown} />
      <Card title={`Roofline of ${sweep.arch.title}`} about={r.note} tools={<>
        {roofs.length > 1 && <Choice label="Work" value={which} of={roofs.map((x, i) => [String(i), x.title])} change={setWhich} />}
        {r.traffic.length > 1 && <Choice label="Bytes at" value={level} of={r.traffic.map((x, i) => [String(i), x.level])} change={setLevel} />}
      </>}>
        {place.x.length < shown.length && r !== flop && <p class="note">{count(shown.length - place.x.length)} configurations move no bytes at {traffic.level} and have no place here: see the bytes at another level.</p>}
        {at >= 0 && <p style={{ marginBottom: "8px" }}>{sentence(place, at, r, traffic, unit)}</p>}
        <Chart height={460} label={`Roofline: ${place.x.length} configurations. Left and right go from one to the next by rank, Enter chooses`}
          deps={[place, at]} choose={(h) => choose(data.trial[h.id])}
          draw={(ctx, w, h, th) => drawRoofline(ctx, w, h, th, data, place, at, r, traffic, unit)} />
        <div class="legend" style={{ marginTop: "8px" }}>
          <span><span class="swatch" style={{ background: t.mark }} />the configuration shown</span>
          <Ramp colours={[0, 0.25, 0.5, 0.75, 1].map(t.ramp)} from="fast" to="slow" />
        </div>
        <Numbers name="Ceilings" head={["Ceiling", "Peak"]} rows={() => [
          ...r.traffic.map((x) => [x.level, si(x.bytes_per_second, "B/s")]), ...r.ceilings.map((x) => [x.unit, si(x.per_second, unit + "/s")])]} />
        <Numbers name="Points of the fastest" head={["Configuration", `${unit} a byte`, `${unit}/s`, "Time"]}
          rows={() => Array.from({ length: Math.min(50, place.x.length) }, (_, i) => [configText(config(data, place.row[i])), place.x[i].toPrecision(4), si(place.y[i], ""), time(data.time[place.row[i]])])} />
      </Card>
    </>
  );
}

/** Floating-point operations of one launch, 0 where there are none. */
const flopOf = (one?: doc.ExplainedConfig): number => (one?.explanation?.rates ?? []).reduce((n, x) => n + (x.flop ?? 0), 0);

/** The roofline of floating-point operations, which are counted of configurations that are explained. */
function flopRoofline(d: Data, one?: doc.ExplainedConfig): doc.Roofline | null {
  const ceilings = (one?.explanation?.rates ?? []).filter((x) => x.flop).map((x) => ({ unit: x.unit, per_second: x.peak, of: "flop" }));
  if (!flopOf(one) || !ceilings.length || !d.rooflines.length) return null;
  return {
    title: "Floating point", work: "", work_of: "flop", ceilings, traffic: d.rooflines[0].traffic,
    note: "Floating-point operations over bytes, of the configuration shown: operations are counted where one is explained. Ceilings are of the units that it uses. An addition or a multiplication is one, a fused one two.",
  };
}

function onePlace(d: Data, row: number, flop: number, traffic: doc.Traffic): Place | null {
  const bytes = d.byName.get(traffic.column)?.numbers, us = d.byName.get("gpu_time_us")?.numbers ?? d.time;
  if (!bytes) return null;
  const work = new Float64Array(d.rows);
  work[row] = flop;
  return places([row], work, bytes, us);
}

function placesOf(d: Data, r: doc.Roofline, traffic: doc.Traffic, shown: Uint32Array): Place | null {
  const col = (n: string) => d.byName.get(n)?.numbers;
  const work = col(r.work), bytes = col(traffic.column), us = col("gpu_time_us") ?? d.time;
  return work && bytes ? places(shown, work, bytes, us) : null;
}

function sentence(p: Place, i: number, r: doc.Roofline, traffic: doc.Traffic, unit: string): string {
  const top = Math.max(...r.ceilings.map((c) => c.per_second));
  const most = roof(p.x[i], traffic.bytes_per_second, top);
  const side = p.x[i] * traffic.bytes_per_second < top ? `left of the ridge: ${traffic.level} limits it` : "right of the ridge: arithmetic or issue limits it";
  return `The configuration shown does ${si(p.y[i], unit + "/s")} at ${p.x[i].toPrecision(3)} ${unit} a byte, ${percent(p.y[i] / most)} of the roof there, ${side}.`;
}
