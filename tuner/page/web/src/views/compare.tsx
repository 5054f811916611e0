// Two configurations side by side: what changed, and what that did.
import type * as doc from "../model/documents";
import { chosen, useExplained } from "../lib/chosen";
import { config, valueOf, type Data } from "../model/data";
import { count, percent, time, times } from "../lib/format";
import { useDocument } from "../lib/load";
import { Card, Choice, Params, quantity } from "../lib/parts";
import { choose } from "../lib/route";
import { use } from "../lib/store";
import { nameWords, stallWords } from "../lib/words";
import type { ViewProps } from ".";
import { NothingValid } from "./summary";
import { NotYet } from "./why";

export function Compare({ sweep, data }: ViewProps) {
  const route = use((s) => s.route);
  const a = chosen(data, route.trial);
  const b = chosen(data, route.other ?? (a ? another(data, a.row) : undefined));
  const ea = useExplained(sweep.id, a?.trial), eb = useExplained(sweep.id, b?.trial);
  const both = useDocument<doc.Explained>(a && b && a.row !== b.row ? `data/sweeps/${sweep.id}/explain?trials=${a.trial},${b.trial}` : undefined);
  if (!a || !b) return <NothingValid sweep={sweep} />;
  const ca = config(data, a.row), cb = config(data, b.row);
  const sentences = both.value?.document.comparisons?.flatMap((c) => c.sentences) ?? [];
  return (
    <>
      <section class="card answer" style={{ gridTemplateColumns: undefined }} aria-label="Two configurations">
        <Side title="First" d={data} row={a.row} than={cb} pick={(t) => choose(t, b.trial)} />
        <Side title="Second" d={data} row={b.row} than={ca} pick={(t) => choose(a.trial, t)} />
        <section>
          <h2>The difference</h2>
          <div class="mid" data-field="ratio">{verdict(data.time[a.row], data.time[b.row])}</div>
          {differences(data, a.row, b.row).map((s) => <p key={s}>{s}</p>)}
        </section>
      </section>
      {both.loading && <p class="note waiting">Simulating both again…</p>}
      {sentences.length > 0 && <Card title="What changed, and why it matters"><ul style={{ margin: 0, paddingLeft: "1.2em" }}>{sentences.map((s) => <li key={s}>{s}</li>)}</ul></Card>}
      <Card title="Results">
        <div class="tablebox" tabIndex={0} role="region" aria-label="Results of both">
          <table>
            <thead><tr><th>Result</th><th class="num">First</th><th class="num">Second</th><th class="num">Second over first</th></tr></thead>
            <tbody>{resultRows(data, a.row, b.row).map(([name, x, y, r]) => (
              <tr key={name}><th scope="row">{name}</th><td class="num">{x}</td><td class="num">{y}</td><td class="num">{r}</td></tr>
            ))}</tbody>
          </table>
        </div>
      </Card>
      <SlotTable a={ea.value?.document.configurations[0]?.report} b={eb.value?.document.configurations[0]?.report} />
      {(ea.problem || eb.problem) && <NotYet loaded={ea.problem ? ea : eb} d={data} sweep={sweep.id} />}
    </>
  );
}

/** The fastest that is not as fast as a row by a tie; else the slowest. */
function another(d: Data, row: number): number | undefined {
  const g = d.groupStart.length > 1 && d.group[row] === 0 ? d.order[d.groupStart[1]] : d.order[0];
  return d.trial[g === row ? d.order[d.order.length - 1] : g];
}

function Side(p: { title: string; d: Data; row: number; than: doc.Config; pick(trial: number): void }) {
  const { d, row } = p;
  return (
    <section>
      <h2>{p.title} · rank {d.place[row] < 0 ? "–" : count(d.place[row] + 1)}</h2>
      <div class="big">{time(d.time[row])}</div>
      <Params config={config(d, row)} than={p.than} />
      <div class="row">
        {d.params.filter((x) => x.size > 1).map((x) => {
          const codes = x.values.map((v, c) => [String(c), String(v)] as [string, string]);
          return <Choice key={x.name} label={x.name} value={String(x.codes[row])} of={codes} change={(c) => { const r = withValue(d, row, x.name, Number(c)); if (r >= 0) p.pick(d.trial[r]); }} />;
        })}
      </div>
      <p class="small muted">Choosing a value goes to the configuration nearest to this one that has it.</p>
    </section>
  );
}

/** The ranked row with a value of a parameter that has most other values in common with a row, the fastest of them. */
function withValue(d: Data, row: number, name: string, code: number): number {
  const fixed = d.params.find((x) => x.name === name)!;
  let best = -1, most = -1;
  for (const r of d.order) {
    if (fixed.codes[r] !== code) continue;
    let same = 0;
    for (const x of d.params) if (x.codes[r] === x.codes[row]) same++;
    if (same > most) { most = same; best = r; }
  }
  return best;
}

function verdict(a: number, b: number): string {
  const r = b / a;
  if (Math.abs(r - 1) < 0.0005) return "Equally fast";
  return r > 1 ? `The first is ${times(r)} faster` : `The second is ${times(1 / r)} faster`;
}

function differences(d: Data, a: number, b: number): string[] {
  return d.params.filter((x) => x.codes[a] !== x.codes[b]).map((x) => `${x.name}: ${valueOf(x, a)} → ${valueOf(x, b)}`);
}

function resultRows(d: Data, a: number, b: number): [string, string, string, string][] {
  return d.results.filter((r) => !["trial", "validity", "attempts", "reused", "level"].includes(r.meta.name)).map((r) => {
    if (r.codes) return [r.meta.title, ...[a, b].map((x) => (r.codes![x] < 0 ? "–" : nameWords(r.meta.name, r.names[r.codes![x]]))) as [string, string], r.codes[a] === r.codes[b] ? "" : "differs"];
    const x = r.numbers![a], y = r.numbers![b];
    return [r.meta.title, quantity(x, r.meta.unit), quantity(y, r.meta.unit), x > 0 && x !== y && Number.isFinite(y) ? times(y / x) : ""];
  });
}

function SlotTable(p: { a?: doc.Report; b?: doc.Report }) {
  if (!p.a?.slots || !p.b?.slots) return null;
  const names = [...new Set([...p.a.slots, ...p.b.slots].map((s) => s.name))];
  const of = (r: doc.Report, n: string) => r.slots!.find((s) => s.name === n)?.value ?? 0;
  const rows = names.map((n) => ({ n, a: of(p.a!, n), b: of(p.b!, n) })).filter((r) => r.a > 0.001 || r.b > 0.001).sort((x, y) => Math.max(y.a, y.b) - Math.max(x.a, x.b));
  return (
    <Card title="Issue slots" about="What the schedulers did with each issue slot: the upper bar is the first configuration, the lower one the second.">
      <div class="bars">
        {rows.map((r) => [
          <span key={r.n}>{stallWords(r.n)}</span>,
          <div key={r.n + "b"} class="stack" style={{ gap: "2px" }}>
            <div class="bar" style={{ height: "8px" }}><i style={{ width: 100 * r.a + "%" }} /></div>
            <div class="bar" style={{ height: "8px" }}><i class="two" style={{ width: 100 * r.b + "%" }} /></div>
          </div>,
          <span key={r.n + "t"} class="num">{percent(r.a)} · {percent(r.b)}</span>,
        ])}
      </div>
    </Card>
  );
}

