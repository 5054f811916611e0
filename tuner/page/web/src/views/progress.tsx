// How a sweep goes: rate, time left, workers, best so far, and every failure with its configuration.
import { useMemo, useState } from "preact/hooks";
import type * as doc from "../model/documents";
import { config, configText, rowOf, type Data } from "../model/data";
import { count } from "../lib/format";
import { Card, Choice } from "../lib/parts";
import { use } from "../lib/store";
import type { ViewProps } from ".";
import { BestSoFar } from "./bestsofar";
import { failed, State, SweepProgress, Workers } from "./sweeps";

export function Progress({ sweep, docs, data }: ViewProps) {
  const overview = use((s) => s.overview);
  const c = sweep.counts;
  return (
    <>
      <section class="card stack" aria-label="Progress">
        <div class="row"><State s={sweep} />{sweep.message && <span>{sweep.message}</span>}<span style={{ flex: 1 }} /><span class="muted small">{sweep.strategy}, {sweep.levels.join(" then ")}{sweep.owner && `, of ${sweep.owner}`}</span></div>
        <SweepProgress s={sweep} />
        <div class="row small muted">
          <span>{count(c.queued)} wait</span><span>{count(c.leased)} with workers</span><span>{count(c.requeued)} given out again</span><span>{count(c.abandoned)} given up</span>
        </div>
        {[...(sweep.set_aside ?? []), ...(sweep.distrusted_workers ?? [])].map((a) => <div key={a.worker} class="note warn">{a.worker}: {a.why}</div>)}
      </section>
      {data.order.length > 0 && <Card title="Best so far" about="Every trial, and the fastest of those before. Drag to zoom, click twice to see all."><BestSoFar data={data} height={300} /></Card>}
      <Failures f={docs.failures} data={data} examples={sweep.failures ?? []} all={failed(c)} />
      {!overview?.static && <Workers workers={overview?.workers ?? []} />}
    </>
  );
}

interface Failed { trial: number; validity: string; message: string; config: string }

function Failures(p: { f?: doc.Failures; data: Data; examples: doc.Failure[]; all: number }) {
  const [kind, setKind] = useState("");
  const list = useMemo(() => (p.f ? failures(p.f, p.data) : p.examples), [p.f, p.data, p.examples]);
  const kinds = [...new Set(list.map((x) => x.validity))];
  const shown = list.filter((x) => !kind || x.validity === kind);
  const groups = useMemo(() => byMessage(shown), [list, kind]);
  if (p.all === 0 && !list.length) return <Card title="Failures"><p class="muted">None.</p></Card>;
  return (
    <Card title="Failures" about={`${count(p.all)} configurations are not valid. Alike messages stand together.`}
      tools={kinds.length > 1 && <Choice label="Kind" value={kind} of={[["", "all"], ...kinds.map((k) => [k, k] as [string, string])]} change={setKind} />}>
      <div class="stack">
        {groups.slice(0, 200).map((g) => (
          <details key={g.message + g.validity} open={groups.length === 1}>
            <summary><strong>{count(g.list.length)}</strong> {g.validity}: {g.message.split("\n")[0].slice(0, 200)}</summary>
            {g.message.includes("\n") || g.message.length > 200 ? <pre style={{ overflow: "auto", maxHeight: "240px" }}>{g.message}</pre> : null}
            <ul class="mono" style={{ margin: 0, paddingLeft: "1.4em" }}>
              {g.list.slice(0, 100).map((x) => <li key={x.trial}>trial {x.trial}: {x.config || "configuration not known"}</li>)}
              {g.list.length > 100 && <li>and {count(g.list.length - 100)} more</li>}
            </ul>
          </details>
        ))}
        {groups.length > 200 && <p class="muted">and {count(groups.length - 200)} more messages</p>}
      </div>
    </Card>
  );
}

function failures(f: doc.Failures, d: Data): Failed[] {
  const text = (c: doc.Column, i: number) => String(c.dictionary?.[c.codes?.[i] ?? -1] ?? "");
  return (f.trials ?? []).map((trial, i) => {
    const row = rowOf(d, trial);
    return { trial, validity: text(f.validity, i), message: text(f.message, i), config: row < 0 ? "" : configText(config(d, row)) };
  });
}

function byMessage(list: Failed[]): { validity: string; message: string; list: Failed[] }[] {
  const groups = new Map<string, Failed[]>();
  for (const x of list) {
    const key = x.validity + "\0" + x.message, g = groups.get(key);
    if (g) g.push(x);
    else groups.set(key, [x]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length).map((g) => ({ validity: g[0].validity, message: g[0].message, list: g }));
}
