// The columns that the table can show: rank, time, parameters, and what came out.
import { valueOf, type Data } from "../model/data";
import { count, times } from "../lib/format";
import { quantity } from "../lib/parts";
import { nameWords } from "../lib/words";

export interface TableColumn {
  id: string;
  title: string;
  help: string;
  /** Always shown. */
  fixed: boolean;
  shown: boolean;
  /** Characters of room. */
  width: number;
  number: boolean;
  /** By which rows are ordered. */
  value(row: number): number;
  text(row: number): string;
  /** As a file has it. */
  raw(row: number): string;
}

export function columns(d: Data): TableColumn[] {
  const best = d.order.length ? d.time[d.order[0]] : NaN;
  const rank: TableColumn = {
    id: "rank", title: "Rank", help: "Place by time; 1 = for all that cannot be told from the fastest", fixed: true, shown: true, width: 8, number: true,
    value: (r) => d.place[r], text: (r) => (d.group[r] === 0 && d.ties > 1 ? "1 =" : count(d.place[r] + 1)), raw: (r) => String(d.place[r] + 1),
  };
  const over: TableColumn = {
    id: "over_best", title: "Over best", help: "Time over the best's", fixed: false, shown: true, width: 12, number: true,
    value: (r) => d.time[r], text: (r) => times(d.time[r] / best), raw: (r) => String(d.time[r] / best),
  };
  const params = d.params.map((p): TableColumn => ({
    id: p.name, title: p.name, help: "Parameter", fixed: false, shown: true, width: Math.max(p.name.length, ...p.values.map((v) => String(v).length)) + 4,
    number: p.values.every((v) => typeof v === "number"), value: (r) => p.codes[r], text: (r) => String(valueOf(p, r) ?? "–"), raw: (r) => String(valueOf(p, r) ?? ""),
  }));
  const results = d.results.filter((r) => r.meta.name !== "validity").map((r): TableColumn => {
    const { numbers, codes, meta } = r;
    const unit = meta.unit;
    const widest = codes ? Math.max(6, ...r.names.map((n) => nameWords(meta.name, n).length)) : 9;
    return {
      id: meta.name, title: meta.title, help: meta.help ?? "", fixed: meta.name === "time_us", shown: !!meta.shown,
      width: Math.max(meta.title.length + 2, Math.min(26, widest)) + 3, number: !!numbers,
      value: (row) => (numbers ? numbers[row] : codes![row]),
      text: (row) => (numbers ? quantity(numbers[row], unit) : codes![row] < 0 ? "–" : nameWords(meta.name, r.names[codes![row]])),
      raw: (row) => (numbers ? (Number.isNaN(numbers[row]) ? "" : String(numbers[row])) : r.names[codes![row]] ?? ""),
    };
  });
  const time = results.filter((c) => c.id === "time_us");
  return [rank, ...time, over, ...params, ...results.filter((c) => c.id !== "time_us")];
}
