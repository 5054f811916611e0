// Which parameters matter and interact, and what each value of one does.
import type * as doc from "../model/documents";
import { only } from "../model/filter";
import { FilterBar, useShown } from "../lib/filterbar";
import { count, percent, time } from "../lib/format";
import { Bars, Card, Numbers, Nothing, Waiting } from "../lib/parts";
import { go, href } from "../lib/route";
import { current, set } from "../lib/store";
import type { ViewProps } from ".";

export function Parameters({ docs, data }: ViewProps) {
  const shown = useShown(data);
  const imp = docs.importance;
  if (!imp) return <Waiting what="Computing which parameters matter…" />;
  const main = imp.main ?? [], pairs = imp.interactions ?? [];
  if (!main.length) return <Nothing what={imp.rests_on || "Too few configurations are valid to say which parameters matter."} />;
  return (
    <>
      <FilterBar d={data} shown={shown} />
      <div class="grid2">
        <Card title="By itself" about="The share of the differences in time that each parameter explains alone.">
          <Bars rows={main.map((m) => ({ name: m.parameter, share: m.variance_share, text: percent(m.variance_share) }))} />
          <Numbers name="Importance" head={["Parameter", "Share"]} rows={() => main.map((m) => [m.parameter, percent(m.variance_share)])} />
        </Card>
        <Card title="Together" about="What pairs explain beyond what each does alone: choose these two together.">
          {pairs.length ? (
            <div class="stack">
              <Bars rows={pairs.slice(0, 8).map((x) => ({ name: x.parameters.join(" × "), share: x.variance_share, text: percent(x.variance_share), tone: "two" as const }))} />
              <p class="small"><a href={href({ view: "heatmap" })} onClick={() => show(pairs[0].parameters)}>Heat map of {pairs[0].parameters.join(" and ")}</a></p>
            </div>
          ) : <p class="muted">No pair does more than its parameters alone.</p>}
          <Numbers name="Interactions" head={["Pair", "Share"]} rows={() => pairs.map((x) => [x.parameters.join(" × "), percent(x.variance_share)])} />
        </Card>
      </div>
      <p class="note">
        {imp.method} {imp.rests_on} {imp.fit_r2 !== null && (imp.fit_r2 < 0.5
          ? <strong>The forest explains only {percent(imp.fit_r2)} of what it did not see: these shares say little.</strong>
          : <>It explains {percent(imp.fit_r2)} of the variance of configurations that it did not see.</>)} {percent(imp.rest_share)} is of three parameters and more together.
      </p>
      <div class="masonry">{main.map((m) => <Effect key={m.parameter} m={m} data={data} />)}</div>
    </>
  );
}

/** The pair that the heat map begins with. */
export const chosenPair: { pair?: [string, string] } = {};
function show(pair: [string, string]) { chosenPair.pair = pair; }

function Effect(p: { m: doc.MainEffect; data: ViewProps["data"] }) {
  const { m } = p;
  const best = Math.min(...m.best_time_us.map((v) => v ?? Infinity));
  const most = Math.max(...m.mean_time_us.map((v) => v ?? 0), ...m.best_time_us.map((v) => v ?? 0));
  const param = p.data.params.find((x) => x.name === m.parameter);
  const pick = (i: number) => {
    const code = param?.values.indexOf(m.values[i]) ?? -1;
    if (!param || code < 0) return;
    set({ filter: only(current().filter, "params", m.parameter, [code], param.size) });
    go({ view: "configurations" });
  };
  return (
    <Card title={m.parameter} about="Best (strong) and mean time (pale) of the configurations with each value.">
      <div class="bars" style={{ gridTemplateColumns: "minmax(40px, max-content) minmax(60px, 1fr) max-content" }}>
        {m.values.slice(0, 40).map((v, i) => {
          const b = m.best_time_us[i], mean = m.mean_time_us[i];
          return [
            <button key={`n${i}`} class="btn plain" style={{ minHeight: 0, padding: 0, textAlign: "left" }} onClick={() => pick(i)} title={`${m.evaluated[i]} valid, ${m.failed[i]} not. Show them.`}>{String(v)}</button>,
            <div key={`b${i}`} class="bar">
              <i style={{ width: `${100 * (mean ?? 0) / most}%`, opacity: 0.3 }} />
              <i class={b === best ? "good" : ""} style={{ width: `${100 * (b ?? 0) / most}%` }} />
            </div>,
            <span key={`t${i}`} class="num">{b === null ? `${count(m.failed[i])} failed` : time(b)}</span>,
          ];
        })}
      </div>
      {m.values.length > 40 && <p class="muted small">and {m.values.length - 40} more values, in the numbers</p>}
      <Numbers name={m.parameter} head={["Value", "Best", "Mean", "Valid", "Not valid"]}
        rows={() => m.values.map((v, i) => [String(v), time(m.best_time_us[i] ?? NaN), time(m.mean_time_us[i] ?? NaN), count(m.evaluated[i]), count(m.failed[i])])} />
    </Card>
  );
}
