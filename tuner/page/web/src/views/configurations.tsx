// The ranked table: filtered, ties grouped, columns chosen, any number of rows.
import { useMemo, useState } from "preact/hooks";
import { config, configText, rowOf, type Data } from "../model/data";
import { grouped, isMeasured, sorted } from "../model/items";
import { FilterBar, useShown } from "../lib/filterbar";
import { count, percent, time } from "../lib/format";
import { Card } from "../lib/parts";
import { choose, go, href } from "../lib/route";
import { say, set, use } from "../lib/store";
import type { ViewProps } from ".";
import { columns, type TableColumn } from "./columns";
import { NothingValid } from "./summary";
import { Rows } from "./rows";

export function Configurations({ sweep, data }: ViewProps) {
  const shown = useShown(data);
  const route = use((s) => s.route), sort = use((s) => s.sort), filter = use((s) => s.filter), picked = use((s) => s.columns);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const all = useMemo(() => columns(data), [data]);
  const visible = all.filter((c) => (picked ? picked.includes(c.id) || c.fixed : c.shown));
  const by = sort && all.find((c) => c.id === sort.column);
  const codes = useMemo(
    () => (by ? sorted(shown, by.value, !!sort!.down) : grouped(data, shown, closed).codes),
    [data, shown, by?.id, sort?.down, closed],
  );
  const inGroup = useMemo(() => grouped(data, shown, closed).inGroup, [data, shown, closed]);
  if (!data.order.length) return <NothingValid sweep={sweep} />;
  const flip = (g: number) => setClosed(new Set(closed.has(g) ? [...closed].filter((x) => x !== g) : [...closed, g]));
  const selected = route.trial === undefined ? data.order[0] : rowOf(data, route.trial);
  return (
    <>
      <FilterBar d={data} shown={shown} />
      <Card title={`Ranked by ${isMeasured(sweep) ? "measured" : "predicted"} time`} about={isMeasured(sweep) ? undefined : `Rows marked at the left cannot be told from the best: they are within ${data.ranking.expected_error.text || percent(data.ranking.expected_error.share)}.`}
        tools={<><a class="btn" download={`${sweep.kernel}-${sweep.arch.name}.csv`} href="#" onClick={(e) => csv(e, shown, visible)}>CSV</a><ColumnChoice all={all} visible={visible} /></>}>
        <Rows data={data} codes={codes} of={JSON.stringify([sweep.id, filter, sort])} columns={visible} selected={selected} sort={sort}
          order={(id) => set({ sort: nextSort(id, sort) })} flip={flip} groupText={(g) => groupText(data, g, inGroup[g], closed.has(g))}
          choose={(row) => { choose(data.trial[row]); say(`${configText(config(data, row))} chosen, ${time(data.time[row])}`); }} />
        <div class="row" style={{ marginTop: "10px" }}>
          <a class="btn primary" href={href({ view: "why" })}>Why this fast</a>
          <a class="btn" href={href({ view: "source" })}>Source</a>
          <button class="btn" onClick={() => go({ view: "compare", other: data.trial[selected], trial: undefined })} disabled={selected === data.order[0]}>Compare with the best</button>
          <span class="muted small any">{configText(config(data, selected))}</span>
        </div>
      </Card>
    </>
  );
}

function nextSort(id: string, sort?: { column: string; down: boolean }) {
  if (id === "rank") return undefined;
  if (sort?.column !== id) return { column: id, down: false };
  return sort.down ? undefined : { column: id, down: true };
}

function groupText(d: Data, g: number, rows: number, shut: boolean): string {
  const first = d.order[d.groupStart[g]];
  const what = g === 0 ? "tie with the best" : `tie at ${time(d.time[first])}`;
  return `${shut ? "▸" : "▾"} ${count(rows)} configurations ${what}`;
}

function ColumnChoice(p: { all: TableColumn[]; visible: TableColumn[] }) {
  const names = p.visible.map((c) => c.id);
  const flip = (id: string) => set({ columns: names.includes(id) ? names.filter((n) => n !== id) : [...names, id] });
  return (
    <details class="columns" style={{ position: "relative" }}>
      <summary class="btn">Columns</summary>
      <div class="card" style={{ position: "absolute", right: 0, zIndex: 8, maxHeight: "50vh", overflow: "auto", width: "260px" }}>
        {p.all.filter((c) => !c.fixed).map((c) => (
          <label key={c.id} style={{ display: "block", padding: "3px 0" }} title={c.help}>
            <input type="checkbox" checked={names.includes(c.id)} onChange={() => flip(c.id)} /> {c.title}
          </label>
        ))}
      </div>
    </details>
  );
}

function csv(e: MouseEvent, rows: Uint32Array, cols: TableColumn[]): void {
  const quote = (s: string) => (/[",\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
  const lines = [cols.map((c) => quote(c.id)).join(",")];
  for (const row of rows) lines.push(cols.map((c) => quote(c.raw(row))).join(","));
  const url = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  (e.currentTarget as HTMLAnchorElement).href = url;
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
