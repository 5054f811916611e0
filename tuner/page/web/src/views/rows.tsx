// Rows of a table of which only those in sight are in the document.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Data } from "../model/data";
import { count } from "../lib/format";
import type { TableColumn } from "./columns";

const height = 30; // pixels a row, as the style sheet says
const head = 34;

interface Props {
  data: Data;
  /** Rows, or -1 - group for the line above a group of ties. */
  codes: Int32Array;
  columns: TableColumn[];
  /** What the lines are of: where it changes, the first line is shown; where more rows come, the place stays. */
  of: string;
  selected: number;
  sort?: { column: string; down: boolean };
  order(column: string): void;
  flip(group: number): void;
  groupText(group: number): string;
  choose(row: number): void;
}

export function Rows(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  const [cursor, setCursor] = useState(-1);
  useEffect(() => {
    const watch = new ResizeObserver(() => setRoom(box.current?.clientHeight ?? 600));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => { setCursor(-1); if (box.current) box.current.scrollTop = 0; }, [p.of]);
  const first = Math.max(0, Math.floor(top / height) - 6);
  const last = Math.min(p.codes.length, Math.ceil((top + room) / height) + 6);
  const template = p.columns.map((c) => c.width + "ch").join(" ");
  const act = (i: number) => (p.codes[i] < 0 ? p.flip(-1 - p.codes[i]) : p.choose(p.codes[i]));
  const to = (i: number) => {
    const next = Math.max(0, Math.min(p.codes.length - 1, i));
    setCursor(next);
    const b = box.current!, y = next * height;
    if (y < b.scrollTop) b.scrollTop = y;
    else if (y + height > b.scrollTop + b.clientHeight - head) b.scrollTop = y + height + head - b.clientHeight;
  };
  const key = (e: KeyboardEvent) => {
    if (e.target !== box.current) return;
    const page = Math.floor(room / height) - 2;
    const step: Record<string, number> = { ArrowDown: cursor + 1, ArrowUp: cursor - 1, PageDown: cursor + page, PageUp: cursor - page, Home: 0, End: p.codes.length - 1 };
    if (e.key in step) { e.preventDefault(); to(step[e.key]); }
    else if ((e.key === "Enter" || e.key === " ") && cursor >= 0) { e.preventDefault(); act(cursor); }
  };
  const lines = [];
  for (let i = first; i < last; i++) {
    const code = p.codes[i], style = { top: head + i * height + "px", gridTemplateColumns: template };
    const outline = i === cursor ? { ...style, outline: "2px solid var(--accent)", outlineOffset: "-2px" } : style;
    lines.push(code < 0 ? (
      <div key={code} id={`line-${i}`} class="vrow group" role="row" aria-rowindex={i + 2} style={{ ...outline, display: "flex", cursor: "pointer" }} onClick={() => act(i)}>
        <span role="gridcell" style={{ position: "sticky", left: 0 }}>{p.groupText(-1 - code)}</span>
      </div>
    ) : (
      <div key={code} id={`line-${i}`} role="row" aria-rowindex={i + 2} aria-selected={code === p.selected} data-trial={p.data.trial[code]}
        class={"vrow" + (code === p.selected ? " selected" : "") + (p.data.group[code] === 0 && p.data.ties > 1 ? " tied" : "")} style={outline} onClick={() => { setCursor(i); act(i); }}>
        {p.columns.map((c) => <span key={c.id} role="gridcell" data-column={c.id} class={c.number ? "num" : ""} title={c.text(code)}>{c.text(code)}</span>)}
      </div>
    ));
  }
  return (
    <div class="vtable" ref={box} role="grid" tabIndex={0} aria-label={`${count(p.codes.length)} lines: arrows to move, Enter to choose`} aria-rowcount={p.codes.length + 1}
      aria-activedescendant={cursor >= first && cursor < last ? `line-${cursor}` : undefined} onScroll={() => setTop(box.current!.scrollTop)} onKeyDown={key}>
      <div class="vhead" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {p.columns.map((c) => (
          <span key={c.id} role="columnheader" title={c.help} class={c.number ? "num" : ""} aria-sort={p.sort?.column === c.id ? (p.sort.down ? "descending" : "ascending") : undefined}>
            <button onClick={() => p.order(c.id)}>{c.title}</button>
          </span>
        ))}
      </div>
      <div style={{ height: p.codes.length * height + "px" }} />
      {lines}
      {p.codes.length === 0 && <div class="empty">The filter lets nothing through.</div>}
    </div>
  );
}
