// The same kernel on several architectures: the best of each, and what it costs on the others.
import type * as doc from "../model/documents";
import { count, kib, percent, si, time, times } from "../lib/format";
import { useDocument } from "../lib/load";
import { Card, Numbers, Params, Trouble, Waiting } from "../lib/parts";
import { href } from "../lib/route";
import { use } from "../lib/store";
import { isMeasured } from "../model/items";
import { boundWords } from "../lib/words";
import type { ViewProps } from ".";

export function Architectures({ sweep }: ViewProps) {
  const overview = use((s) => s.overview);
  const others = alike(overview?.sweeps ?? [], sweep);
  const address = others.length > 1 ? `data/compare?sweeps=${others.map((s) => s.id).join(",")}` : undefined;
  const loaded = useDocument<doc.Comparison>(address, others.map((s) => s.revision).join(" "));
  const c = loaded.value;
  if (others.length < 2)
    return (
      <>
        <div class="note">Only {sweep.arch.title} has a sweep of this kernel and problem. For more: <code>warptune tune {sweep.kernel} --arch h100,a100</code></div>
        <Machines sweeps={[sweep]} />
      </>
    );
  return (
    <>
      {loaded.loading && <Waiting what="Comparing…" />}
      {loaded.problem && <Trouble text={loaded.problem} />}
      {c && <Bests c={c} />}
      {c && <Crossed c={c} />}
      <Machines sweeps={others} />
    </>
  );
}

/** Sweeps of the same kernel and problem, the newest of each architecture. */
function alike(all: doc.Sweep[], like: doc.Sweep): doc.Sweep[] {
  const measured = isMeasured(like);
  const seen = new Map<string, doc.Sweep>([[like.arch.name, like]]);
  for (const s of all)
    if (s.kernel === like.kernel && String(s.problem) === String(like.problem) && isMeasured(s) === measured && !seen.has(s.arch.name)) seen.set(s.arch.name, s);
  return all.filter((s) => seen.get(s.arch.name)?.id === s.id);
}

function Bests(p: { c: doc.Comparison }) {
  const { c } = p;
  const slowest = Math.max(...c.sweeps.map((s) => s.best?.time_us ?? 0));
  return (
    <Card title="The best of each">
      <div class="tablebox" tabIndex={0} role="region" aria-label="The best of each architecture">
        <table>
          <thead><tr><th>Architecture</th><th class="num">Best time</th><th style={{ width: "22%" }}><span class="sr">Bar</span></th><th>Bound by</th><th>Configuration</th></tr></thead>
          <tbody>{c.sweeps.map((s) => (
            <tr key={s.sweep}>
              <th scope="row"><a href={href({ sweep: s.sweep, view: "summary", trial: undefined, other: undefined })}>{s.title || s.arch}</a>{s.caution && <div class="small muted">{s.caution}</div>}</th>
              <td class="num">{s.best ? time(s.best.time_us) : "–"}</td>
              <td><div class="bar"><i style={{ width: `${(100 * (s.best?.time_us ?? 0)) / slowest}%` }} /></div></td>
              <td>{s.best ? boundWords(s.best.bound) : "nothing valid"}</td>
              <td style={{ minWidth: "230px" }}>{s.best && <Params config={s.best.parameters} than={c.sweeps[0].best?.parameters} />}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
      {c.best_for_all && (
        <div class="stack" style={{ marginTop: "12px" }}>
          <p><strong>One for all of them</strong> takes at most {times(c.best_for_all.worst_over_best)} the best's time on each ({c.sweeps.map((s, i) => `${s.arch} ${times(c.best_for_all!.over_best[i])}`).join(", ")}):</p>
          <Params config={c.best_for_all.parameters} />
        </div>
      )}
    </Card>
  );
}

function Crossed(p: { c: doc.Comparison }) {
  const { c } = p;
  const pair = (of: string, on: string) => (c.pairs ?? []).find((x) => x.best_of === of && x.on === on);
  const cell = (of: string, on: string) => {
    if (of === on) return "best";
    const x = pair(of, on);
    return x?.over_best == null ? "not valid there" : times(x.over_best);
  };
  return (
    <Card title="One architecture's best on another" about={`How many times the best's time it takes there. ${count(c.common)} configurations are valid on all.`}>
      <div class="tablebox" tabIndex={0} role="region" aria-label="One architecture's best on another">
        <table>
          <thead><tr><th>The best of</th>{c.sweeps.map((s) => <th key={s.sweep} class="num">on {s.arch}</th>)}</tr></thead>
          <tbody>{c.sweeps.map((of) => (
            <tr key={of.sweep}><th scope="row">{of.arch}</th>{c.sweeps.map((on) => <td key={on.sweep} class="num" data-pair={`${of.arch} ${on.arch}`}>{cell(of.sweep, on.sweep)}</td>)}</tr>
          ))}</tbody>
        </table>
      </div>
      <Numbers name="Rank correlations" head={["Of", "On", "Rank correlation", "Configurations in common"]}
        rows={() => (c.pairs ?? []).filter((x) => x.best_of !== x.on).map((x) => [name(c, x.best_of), name(c, x.on), x.rank_correlation?.toFixed(3) ?? "–", count(x.common)])} />
    </Card>
  );
}

const name = (c: doc.Comparison, id: string): string => c.sweeps.find((s) => s.sweep === id)?.arch ?? id;

function Machines(p: { sweeps: doc.Sweep[] }) {
  const arches = p.sweeps.map((s) => s.arch);
  const peaks = [...new Set(arches.flatMap((a) => [...(a.memory ?? []), ...(a.compute ?? [])].map((x) => x.unit)))];
  const peak = (a: doc.Arch, unit: string) => {
    const x = [...(a.memory ?? []), ...(a.compute ?? [])].find((q) => q.unit === unit);
    return x ? si(x.per_second, x.of === "bytes" ? "B/s" : x.of === "flop" ? "FLOP/s" : x.of + "/s") : "–";
  };
  const rows: [string, (a: doc.Arch) => string][] = [
    ["Compute capability", (a) => a.compute_capability], ["SMs", (a) => count(a.sms)], ["Clock", (a) => `${count(a.clock_mhz)} MHz`],
    ["Warps an SM", (a) => count(a.max_warps_per_sm)], ["Registers an SM", (a) => count(a.registers_per_sm)],
    ["Shared memory a CTA", (a) => kib(a.shared_bytes_per_cta)], ["L2", (a) => kib(a.l2_bytes)], ["DRAM", (a) => kib(a.dram_bytes)],
    ...peaks.map((u): [string, (a: doc.Arch) => string] => [`${u} peak`, (a) => peak(a, u)]),
    ["Figures not verified", (a) => `${a.unverified_figures} of ${a.figures} (${percent(a.unverified_figures / a.figures)})`],
  ];
  return (
    <Card title="The machines">
      <div class="tablebox" tabIndex={0} role="region" aria-label="Figures of the architectures">
        <table>
          <thead><tr><th>Figure</th>{arches.map((a) => <th key={a.name} class="num">{a.title}</th>)}</tr></thead>
          <tbody>{rows.map(([n, show]) => <tr key={n}><th scope="row">{n}</th>{arches.map((a) => <td key={a.name} class="num">{show(a)}</td>)}</tr>)}</tbody>
        </table>
      </div>
    </Card>
  );
}
