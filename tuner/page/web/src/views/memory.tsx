// The memory hierarchy: from registers to DRAM, with the bytes that pass between levels.
import type * as doc from "../model/documents";
import { ChosenBar, chosen } from "../lib/chosen";
import { bytes, kib, percent, short, si } from "../lib/format";
import { useDocument } from "../lib/load";
import { Bar, Card, Numbers, Trouble, Nothing, Waiting } from "../lib/parts";
import { use } from "../lib/store";
import type { ViewProps } from ".";
import { NothingValid } from "./summary";

export function Memory({ sweep, data }: ViewProps) {
  const route = use((s) => s.route);
  const c = chosen(data, route.trial);
  const loaded = useDocument<doc.Trial>(c ? `data/sweeps/${sweep.id}/trials/${c.trial}` : undefined);
  if (!c) return route.trial === undefined ? <NothingValid sweep={sweep} /> : <ChosenBar d={data} />;
  return (
    <>
      <ChosenBar d={data} />
      {loaded.loading && <Waiting what="Reading…" />}
      {loaded.problem && <Trouble text={loaded.problem} />}
      {loaded.value && <Hierarchy trial={loaded.value} />}
    </>
  );
}

export function Hierarchy(p: { trial: doc.Trial }) {
  const levels = p.trial.memory ?? [];
  if (!levels.some((l) => l.read_bytes !== null)) return <Nothing what={p.trial.message || "Nothing is known of the memory of this configuration: its counters are not stored."} />;
  const most = Math.max(...levels.map((l) => (l.read_bytes ?? 0) + (l.written_bytes ?? 0)), 1);
  return (
    <Card title="Memory hierarchy" about={about(levels)}>
      <div class="hier">
        {rows(levels).map((row) => (
          <div key={row[0].level} class="levels">
            {row.map((l) => (
              <div key={l.level}>
                {l !== levels[0] && <Flow level={l} most={most} />}
                <Level level={l} />
              </div>
            ))}
          </div>
        ))}
      </div>
      <Numbers name="Memory" head={["Level", "Read", "Written", "Hit rate", "A second", "Peak", "Of peak", "In use", "Capacity"]} rows={() => levels.map((l) => [
        l.title, or(l.read_bytes, bytes), or(l.written_bytes, bytes), or(l.hit_share, percent), or(l.bytes_per_second, perSecond),
        or(l.peak_bytes_per_second, perSecond), or(l.use_share, percent), or(l.in_use_bytes, kib), or(l.capacity_bytes, kib)])} />
      <Numbers name="What is counted" head={["Level", "Bytes read and written", "Rate and peak"]} rows={() => levels.filter((l) => l.counts).map((l) => [l.title, l.counts, l.rate_of])} />
    </Card>
  );
}

function about(levels: doc.MemoryLevel[]): string {
  const hottest = levels.reduce((a, b) => ((b.use_share ?? 0) > (a.use_share ?? 0) ? b : a));
  const widths = "Blocks between levels are as wide as the bytes that pass in one launch.";
  if (!hottest.use_share) return widths;
  const name = hottest.level === "shared" || hottest.level === "l1" ? "The data stage of L1 and shared memory" : hottest.title;
  return `${name} is nearest to its peak: ${percent(hottest.use_share)}${hottest.saturated ? ", which is saturated (60 % or more)" : ""}. ${widths}`;
}

/** Levels in rows from the warps outwards: shared memory and L1 are side by side. */
function rows(levels: doc.MemoryLevel[]): doc.MemoryLevel[][] {
  const out: doc.MemoryLevel[][] = [];
  for (const l of levels) {
    const last = out[out.length - 1];
    if (l.level === "l1" && last?.[0].level === "shared") last.push(l);
    else out.push([l]);
  }
  return out;
}

const or = (v: doc.Unknown, show: (v: number) => string): string => (v === null || v === undefined ? "–" : show(v));
const perSecond = (v: number): string => si(v, "B/s");

function Level(p: { level: doc.MemoryLevel }) {
  const l = p.level;
  const figures = (l.figures ?? []).map((x) => `${x.name}: ${x.value >= 1e6 ? si(x.value, "").trim() : short(x.value)}`);
  const room = [l.in_use_bytes !== null && `${kib(l.in_use_bytes)} in use`, l.capacity_bytes !== null && kib(l.capacity_bytes)].filter(Boolean).join(" of ");
  const rate = l.bytes_per_second !== null && l.peak_bytes_per_second !== null && `${perSecond(l.bytes_per_second)} of ${perSecond(l.peak_bytes_per_second)}: ${l.rate_of}`;
  return (
    <div class={"level" + (l.saturated ? " hot" : "")} data-level={l.level}>
      <div class="row">
        <strong>{l.title}</strong><span class="small muted">{room}</span>
        <span style={{ flex: 1 }} />
        {l.saturated && <span class="chip">saturated</span>}
        {l.use_share !== null && <strong>{percent(l.use_share)} of peak</strong>}
      </div>
      {l.use_share !== null && <Bar share={l.use_share} tone={l.saturated ? "hot" : undefined} label={`${percent(l.use_share)} of the peak`} />}
      {rate && <div class="small muted">{rate}</div>}
      {l.hit_share !== null && <div class="small">{percent(l.hit_share)} of the sectors looked up hit</div>}
      <div class="small muted">{figures.join(" · ")}</div>
    </div>
  );
}

/** Bytes between a level and the one nearer to the warps. */
function Flow(p: { level: doc.MemoryLevel; most: number }) {
  const { read_bytes: r, written_bytes: w } = p.level;
  if (r === null && w === null) return <div class="flow">{" "}</div>;
  const wide = (v: doc.Unknown) => (v ? Math.max(2, (70 * v) / p.most) : 0) + "px";
  return (
    <div class="flow">
      {r !== null && <span class="amount"><i style={{ width: wide(r), background: "var(--accent)" }} />↑ {bytes(r)} read{w === null && " and written"}</span>}
      {w !== null && <span class="amount"><i style={{ width: wide(w), background: "var(--mark)" }} />↓ {bytes(w)} written</span>}
      <span class="counts">{p.level.counts}</span>
    </div>
  );
}
