// All sweeps, newest first: what runs, how fast, and who works.
import type * as doc from "../model/documents";
import { count, duration, plural, time } from "../lib/format";
import { Card, Params } from "../lib/parts";
import { href } from "../lib/route";
import { isMeasured } from "../model/items";
import { boundBy } from "../lib/words";

export function sweepName(s: doc.Sweep): string {
  const problem = s.problem?.length ? ` ${s.problem.join(" × ")}` : "";
  return `${s.kernel}${problem} on ${s.arch.name}${isMeasured(s) ? ", measured" : ""}`;
}

export const failed = (c: doc.Counts): number =>
  Object.entries(c.by_validity).reduce((n, [k, v]) => (k === "correct" ? n : n + v), c.abandoned);

export function Sweeps(p: { overview: doc.Overview }) {
  const sweeps = p.overview.sweeps ?? [];
  return (
    <>
      <h1>Sweeps</h1>
      {sweeps.length === 0 && (
        <div class="card empty">No sweep yet. Start one: <code>warptune tune KERNEL --arch h100</code></div>
      )}
      {sweeps.map((s) => <SweepCard key={s.id} s={s} />)}
      {!!p.overview.damaged_sweeps && <div class="note warn">{p.overview.damaged_sweeps} sweeps are damaged in the store and not listed.</div>}
      {!p.overview.static && <Workers workers={p.overview.workers ?? []} />}
    </>
  );
}

function SweepCard(p: { s: doc.Sweep }) {
  const { s } = p, bad = failed(s.counts);
  return (
    <section class="card stack" aria-label={sweepName(s)}>
      <div class="row">
        <h2><a href={href({ sweep: s.id, view: "summary", trial: undefined, other: undefined })}>{sweepName(s)}</a></h2>
        <State s={s} />
        <span style={{ flex: 1 }} />
        <span class="muted small">{s.strategy} · {new Date(s.submitted_ms).toLocaleString()}</span>
      </div>
      <SweepProgress s={s} />
      <div class="row">
        {s.best ? <><strong class="mid">{time(s.best.time_us)}</strong>{s.best.bound && <span class="muted">bound by {boundBy(s.best.bound)}</span>}<Params config={s.best.parameters} /></>
          : <span class="muted">Nothing valid so far.</span>}
        <span style={{ flex: 1 }} />
        {bad > 0 && <a class="bad" href={href({ sweep: s.id, view: "progress", trial: undefined, other: undefined })}>{count(bad)} failed</a>}
      </div>
      {s.message && <div class="note warn">{s.message}</div>}
      {s.caution && <div class="note warn">{s.caution}</div>}
    </section>
  );
}

export function State(p: { s: doc.Sweep }) {
  return <span class={"chip" + (p.s.state === "running" ? " on" : "")}>{p.s.state}</span>;
}

const rate = (perSecond: number): string => (perSecond >= 10 ? count(perSecond) : perSecond.toPrecision(2));

/** How far, how fast and how long still. */
export function SweepProgress(p: { s: doc.Sweep }) {
  const { counts: c } = p.s, share = c.total ? (c.done + c.abandoned) / c.total : 0;
  return (
    <div class="stack" style={{ gap: "5px" }}>
      <div class="progress" role="progressbar" aria-valuemin={0} aria-valuemax={c.total} aria-valuenow={c.done} aria-label="Configurations evaluated">
        <i style={{ width: 100 * share + "%" }} />
      </div>
      <div class="row small muted">
        <span><strong data-field="done">{count(c.done)}</strong> of {count(c.total)} evaluated{c.total < c.space && ` of a space of ${count(c.space)}`}</span>
        {p.s.state === "running" && <span>{p.s.results_per_second > 0 ? `${rate(p.s.results_per_second)} a second` : c.done > c.reused ? "nothing lately" : "no result yet"}</span>}
        {p.s.state === "running" && <span>{p.s.left_seconds === null ? "time left not known yet" : `${p.s.left_at_most ? "at most " : ""}about ${duration(p.s.left_seconds)} left`}</span>}
        {p.s.state === "running" && <span>{plural(p.s.workers, "worker")}</span>}
        {c.reused > 0 && <span>{count(c.reused)} answered by earlier results</span>}
        {p.s.ended_ms > 0 && <span>took {duration((p.s.ended_ms - p.s.submitted_ms) / 1000)}</span>}
      </div>
    </div>
  );
}

export function Workers(p: { workers: doc.Worker[] }) {
  return (
    <Card title="Workers" about="Machines that evaluate configurations, seen lately.">
      {p.workers.length === 0 ? <div class="empty">No worker is connected.</div> : (
        <div class="tablebox" tabIndex={0} role="region" aria-label="Workers">
          <table>
            <thead><tr><th>Name</th><th class="num">Slots</th><th class="num">Holds</th><th class="num">Reported</th><th class="num">Last heard</th><th>State</th></tr></thead>
            <tbody>
              {p.workers.map((w) => (
                <tr key={w.name}>
                  <th scope="row">{w.name}</th>
                  <td class="num">{count(w.slots)}</td><td class="num">{count(w.held)}</td><td class="num">{count(w.reported)}</td>
                  <td class="num">{w.silent_seconds < 2 ? "now" : duration(w.silent_seconds) + " ago"}</td>
                  <td class="wrap">{w.refused || w.set_aside || (w.draining ? "draining" : "working")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
