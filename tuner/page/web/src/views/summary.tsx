// The first screen: how fast and by how much, what bounds it, what to change.
import { useMemo } from "preact/hooks";
import type * as doc from "../model/documents";
import { chosen, useExplained, ChosenBar } from "../lib/chosen";
import { config, type Data } from "../model/data";
import { isMeasured } from "../model/items";
import { count, percent, time, times } from "../lib/format";
import { Bars, Card, Params, Trouble } from "../lib/parts";
import { href } from "../lib/route";
import { use } from "../lib/store";
import { boundWords, gainWords } from "../lib/words";
import { median } from "../geometry/heat";
import type { ViewProps } from ".";
import { Findings } from "./findings";
import { BestSoFar } from "./bestsofar";
import { State, SweepProgress } from "./sweeps";

export function Summary({ sweep, data, docs }: ViewProps) {
  const route = use((s) => s.route);
  const c = chosen(data, route.trial);
  const explained = useExplained(sweep.id, c?.trial);
  const one = explained.value?.document.configurations[0];
  if (!c) return <NothingValid sweep={sweep} />;
  return (
    <>
      {sweep.state !== "completed" && <section class="card"><div class="row"><State s={sweep} /><span class="muted">{sweep.message}</span></div><SweepProgress s={sweep} /></section>}
      {!c.best && <ChosenBar d={data} />}
      <section class="card answer" aria-label="The answer">
        <Fast sweep={sweep} data={data} row={c.row} />
        <Bound data={data} row={c.row} one={one} />
        <Change one={one} waiting={explained.loading} problem={explained.problem} />
      </section>
      {one?.explanation?.findings && one.explanation.findings.length > 0 && (
        <Card title="What would help, and by how much" about="Each gain is simulated, as the same configuration without that one cost; ≈ marks an estimate. Gains do not add up.">
          <Findings findings={one.explanation.findings} time={one.report?.time_us} />
        </Card>
      )}
      <div class="grid2">
        <Card title="Best so far" about="The fastest configuration found against the trials evaluated.">
          <BestSoFar data={data} height={210} />
        </Card>
        {docs.importance?.main?.length ? (
          <Card title="What matters" tools={<a href={href({ view: "parameters" })}>More</a>} about="How much of the difference in time each parameter explains by itself.">
            <Bars rows={docs.importance.main.slice(0, 6).map((m) => ({ name: m.parameter, share: m.variance_share, text: percent(m.variance_share) }))} />
          </Card>
        ) : null}
      </div>
      <Notes sweep={sweep} data={data} />
    </>
  );
}

function Fast(p: { sweep: doc.Sweep; data: Data; row: number }) {
  const { data: d, sweep } = p;
  const us = d.time[p.row], best = d.time[d.order[0]];
  const middle = useMemo(() => median(timesInOrder(d)), [d]), worst = d.slowest;
  return (
    <section>
      <h2>{p.row === d.order[0] ? (sweep.state === "completed" ? "Fastest" : "Fastest so far") : "This configuration"}, {isMeasured(sweep) ? "measured" : "predicted"} on {sweep.arch.title}</h2>
      <div class="big" data-field="time">{time(us)}</div>
      {p.row === d.order[0]
        ? <p>{times(middle / us)} faster than the median of {count(d.order.length)} configurations, {times(worst / us)} faster than the slowest.</p>
        : <p>{times(us / best)} the best's time.</p>}
      <Params config={config(d, p.row)} />
      {p.row === d.order[0] && d.ties > 1 && (
        <p class="muted small"><span data-field="ties">{count(d.ties)}</span> configurations are within {percent(Math.max(d.ranking.ties_share, d.ranking.expected_error.share))}, which is as far as their predicted times can be told apart: any of them may be the fastest.</p>
      )}
    </section>
  );
}

function timesInOrder(d: Data): Float64Array {
  const all = new Float64Array(d.order.length);
  for (let i = 0; i < all.length; i++) all[i] = d.time[d.order[i]];
  return all.sort();
}

function Bound(p: { data: Data; row: number; one?: doc.ExplainedConfig }) {
  const bound = p.data.byName.get("bound");
  const name = bound?.codes ? bound.names[bound.codes[p.row]] ?? "" : "";
  const nearest = p.one?.report?.use?.slice(0, 4) ?? [];
  return (
    <section>
      <h2>What bounds it</h2>
      <div class="mid">{name ? boundWords(name) : "Measuring does not tell"}</div>
      {nearest.length > 0 && <Bars rows={nearest.map((u, i) => ({ name: boundWords(u.name), share: u.value, text: percent(u.value), tone: i === 0 ? "hot" as const : undefined }))} />}
      {nearest.length > 0 && !name && <p class="muted small">As it is simulated:</p>}
      {nearest.length > 0 && <p class="muted small">How near each unit comes to its peak: the nearest bounds, from 60 % on; below that latency does.</p>}
      <p class="row small"><a href={href({ view: "memory" })}>Memory</a><a href={href({ view: "slots" })}>Issue slots</a><a href={href({ view: "roofline" })}>Roofline</a></p>
    </section>
  );
}

function Change(p: { one?: doc.ExplainedConfig; waiting: boolean; problem?: string }) {
  const top = p.one?.explanation?.findings?.[0];
  return (
    <section>
      <h2>What to change</h2>
      {p.waiting && <p class="muted waiting">Simulating it again, with what each cost contributes…</p>}
      {p.problem && <Trouble text={p.problem} />}
      {p.one && !top && <p>Nothing stands out: no cost that is looked for takes a notable part of the time.</p>}
      {top && (
        <>
          <div class="mid">{top.remedy.split(". ")[0].replace(/\.$/, "")}.</div>
          {top.times_faster ? <p><strong class="good">{top.estimated ? "about " : ""}{times(top.times_faster)} faster</strong> {gainWords(top.topic)}{top.time_us ? `: ${time(top.time_us)}` : ""}.</p> : null}
          {top.line && <p class="small muted">{top.line} {top.text && <code>{top.text}</code>}</p>}
          <p class="small"><a href={href({ view: "why" })}>Everything found</a></p>
        </>
      )}
    </section>
  );
}

function Notes(p: { sweep: doc.Sweep; data: Data }) {
  const notes = [...(p.data.ranking.notes ?? []), ...(p.sweep.caution ? [p.sweep.caution] : [])];
  if (p.data.damaged) notes.push(`${count(p.data.damaged)} results are damaged in the store and missing here.`);
  if (p.sweep.proven_gap_share !== null)
    notes.push(p.sweep.proven_gap_share === 0 ? "Proven: none of the configurations looked at is predicted faster." : `Proven: no configuration looked at is more than ${percent(p.sweep.proven_gap_share)} faster.`);
  if (p.sweep.expected_gain_share !== null) notes.push(`The search expects ${percent(p.sweep.expected_gain_share)} more to gain.`);
  if (!notes.length) return null;
  return <Card title="Notes"><ul style={{ margin: 0, paddingLeft: "1.2em" }}>{notes.map((n) => <li key={n}>{n}</li>)}</ul></Card>;
}

export function NothingValid(p: { sweep: doc.Sweep }) {
  return (
    <section class="card empty">
      {p.sweep.counts.done ? <>Nothing valid so far. See <a href={href({ view: "progress" })}>what failed and why</a>.</> : "Nothing is evaluated so far."}
    </section>
  );
}
