// Why one configuration is as fast as it is, in sentences.
import type * as doc from "../model/documents";
import { ChosenBar, chosen, explainedTrials, useExplained } from "../lib/chosen";
import { config, configText, rowOf, type Data } from "../model/data";
import { isReport } from "../lib/client";
import { count, percent, si, time, times } from "../lib/format";
import { Bars, Card, Numbers, Trouble, Waiting } from "../lib/parts";
import { href } from "../lib/route";
import { use } from "../lib/store";
import { whatIfWords } from "../lib/words";
import { useDocument, type Loaded } from "../lib/load";
import type { ViewProps } from ".";
import { Findings } from "./findings";
import { NothingValid } from "./summary";

export function Why({ sweep, data }: ViewProps) {
  const route = use((s) => s.route);
  const c = chosen(data, route.trial);
  const loaded = useExplained(sweep.id, c?.trial);
  const stored = useDocument<doc.Trial>(c ? `data/sweeps/${sweep.id}/trials/${c.trial}` : undefined);
  if (!c) return route.trial === undefined ? <NothingValid sweep={sweep} /> : <ChosenBar d={data} />;
  const one = loaded.value?.document.configurations[0];
  return (
    <>
      <ChosenBar d={data} />
      <NotYet loaded={loaded} d={data} sweep={sweep.id} />
      {one && !one.explanation && <Trouble text={`${one.validity}: ${one.message ?? ""}`} />}
      {one?.explanation && (
        <>
          <section class="card stack" aria-label="In a sentence">
            <p class="mid" style={{ fontWeight: 500 }}>{one.explanation.headline}.</p>
            <p class="muted">{one.explanation.timing}</p>
            <p class="muted">{one.explanation.certainty}</p>
            <Checked c={stored.value?.checked} />
          </section>
          <Card title="What would help, and by how much" about="Each gain is simulated, as the same configuration without that one cost; ≈ marks an estimate. Gains do not add up.">
            {one.explanation.findings?.length ? <Findings findings={one.explanation.findings} time={one.report?.time_us} /> : <p class="muted">Nothing stands out.</p>}
          </Card>
          <div class="grid2">
            <WhatIfs one={one} />
            <Rates rates={one.explanation.rates ?? []} />
          </div>
        </>
      )}
    </>
  );
}

/** What was executed to check it, what was looked for, and what became of comparing outputs. */
function Checked(p: { c?: doc.Trial["checked"] }) {
  const c = p.c;
  if (!c || !c.of || !c.ctas) return null;
  const which = c.ctas === c.of ? `any of its ${count(c.of)} CTAs` : `the ${count(c.ctas)} of ${count(c.of)} CTAs that were executed`;
  const full = c.full > 0 && c.for_full ? `; ${c.full < c.ctas ? `in ${count(c.full)} of them ` : ""}also ${c.for_full}` : "";
  return (
    <p class="muted" data-field="checked">
      Checked: no fault in {which}{c.for && `. Looked for: ${c.for}${full}`}{c.outputs && `. Outputs: ${c.outputs}`}{c.outputs.startsWith("not compared") && <>. To compare all: <code class="nowrap">--check all</code>, for a smaller problem</>}{c.warnings && `. Warnings: ${c.warnings}`}.
    </p>
  );
}

/** What to say while an explanation is not there. */
export function NotYet(p: { loaded: Loaded<doc.Explained>; d: Data; sweep: string }) {
  if (p.loaded.loading) return <Waiting what="Simulating this configuration again, with what each cost contributes…" />;
  if (!p.loaded.problem) return null;
  if (!isReport || !explainedTrials(p.sweep).length) return <Trouble text={p.loaded.problem} />;
  return (
    <div class="note">
      A report explains a few configurations; the live page explains every one. This report has{" "}
      {explainedTrials(p.sweep).map((t, i) => <>{i > 0 && ", "}<a href={href({ trial: t })}>{rowOf(p.d, t) < 0 ? t : configText(config(p.d, rowOf(p.d, t)))}</a></>)}.
    </div>
  );
}

function WhatIfs(p: { one: doc.ExplainedConfig }) {
  const now = p.one.report?.time_us ?? 0;
  const list = [...(p.one.what_ifs ?? [])].sort((a, b) => a.time_us - b.time_us);
  if (!list.length) return null;
  return (
    <Card title="What if" about="The time on a machine of which one mechanism, or two, cost nothing. The bar is the time that is left.">
      <Bars rows={list.filter((w) => notable(w, list)).map((w) => ({ name: `if ${whatIfWords(w.without)}`, share: w.time_us / now, text: `${time(w.time_us)} · ${times(w.times_faster)}`, tone: w.times_faster > 1.05 ? "good" as const : undefined }))} />
      <Numbers name="What-ifs" head={["Without", "Time", "Faster"]} rows={() => list.map((w) => [w.without, time(w.time_us), times(w.times_faster)])} />
    </Card>
  );
}

interface WhatIf { without: string; times_faster: number }

/** Whether a what-if is worth a bar: it gains something, and one of several mechanisms more than each of them alone. */
function notable(w: WhatIf, all: WhatIf[]): boolean {
  const parts = w.without.split(", ");
  const alone = parts.length > 1 ? Math.max(1, ...all.filter((x) => parts.includes(x.without)).map((x) => x.times_faster)) : 1;
  return w.times_faster >= 1.005 * alone;
}

function Rates(p: { rates: doc.Rate[] }) {
  if (!p.rates.length) return null;
  const unit = (r: doc.Rate) => (r.per === "bytes/s" ? "B/s" : r.per);
  const flop = p.rates.find((r) => r.flop_per_dram_byte !== undefined);
  return (
    <Card title="Achieved and peak" about="What each unit moves or computes a second, of the most that it can.">
      <Bars rows={p.rates.map((r) => ({ name: r.unit, share: r.achieved / r.peak, text: `${si(r.achieved, unit(r))} of ${si(r.peak, unit(r))} · ${percent(r.achieved / r.peak)}` }))} />
      {flop && <p class="small muted" style={{ marginTop: "8px" }}>{flop.flop_per_dram_byte!.toPrecision(3)} operations for each byte of DRAM; arithmetic bounds from {flop.ridge_flop_per_dram_byte?.toPrecision(3)} on.</p>}
    </Card>
  );
}
