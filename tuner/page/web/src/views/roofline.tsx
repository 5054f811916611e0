// The roofline, every configuration a point.
import { useMemo, useState } from "preact/hooks";
import type * as doc from "../model/documents";
import { places, roof, type Place } from "../geometry/roofline";
import { config, configText, type Data } from "../model/data";
import { drawRoofline } from "../draw/roofline";
import { Chart } from "../lib/chart";
import { chosen } from "../lib/chosen";
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
  const roofs = data.rooflines;
  const r = roofs[Number(which)] ?? roofs[0];
  const traffic = r?.traffic[Number(level)] ?? r?.traffic[0];
  const place = useMemo(() => (r && traffic ? placesOf(data, r, traffic, shown) : null), [data, shown, r, traffic]);
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
        {place.x.length < shown.length && <p class="note">{count(shown.length - place.x.length)} configurations have no place here: they move no bytes at {traffic.level}, or their work is not counted. See the bytes at another level.</p>}
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
