// Small pieces that many views share.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type * as doc from "../model/documents";
import * as f from "./format";

export function Card(p: { title: string; about?: string; tools?: ComponentChildren; children: ComponentChildren; id?: string }) {
  return (
    <section class="card" aria-label={p.title} id={p.id}>
      <header>
        <h2>{p.title}</h2>
        <span class="spacer" />
        {p.tools}
        {p.about && <p>{p.about}</p>}
      </header>
      {p.children}
    </section>
  );
}

/** The numbers of a picture as a table, for whoever does not see it or wants to copy them. It is made when it is opened. */
export function Numbers(p: { head: string[]; rows: () => (string | number)[][]; name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="numbers" data-name={p.name} onToggle={(e) => setOpen((e.currentTarget as HTMLDetailsElement).open)}>
      <summary>Numbers: {p.name}</summary>
      {open && <Cells head={p.head} rows={p.rows()} name={p.name} />}
    </details>
  );
}

const mostRows = 2000; // that a browser lays out without a pause

function Cells(p: { head: string[]; rows: (string | number)[][]; name: string }) {
  return (
    <>
      <div class="tablebox" style={{ maxHeight: "50vh" }} tabIndex={0} role="region" aria-label={p.name}>
        <table>
          <thead><tr>{p.head.map((h, i) => <th key={i} scope="col" class={i ? "num" : ""}>{h}</th>)}</tr></thead>
          <tbody>
            {p.rows.slice(0, mostRows).map((r, i) => (
              <tr key={i}>{r.map((c, j) => (j ? <td key={j} class="num">{c}</td> : <th key={j} scope="row">{c}</th>))}</tr>
            ))}
          </tbody>
        </table>
      </div>
      {p.rows.length > mostRows && <p class="muted small">and {f.count(p.rows.length - mostRows)} more rows</p>}
    </>
  );
}

/** A configuration; what differs from another is marked. */
export function Params(p: { config: doc.Config; than?: doc.Config }) {
  return (
    <div class="params">
      {Object.entries(p.config).map(([name, v]) => (
        <span key={name} class={p.than && p.than[name] !== v ? "diff" : ""}>{name}={String(v)}</span>
      ))}
    </div>
  );
}

export function Bar(p: { share: number; of?: string; tone?: "good" | "hot" | "two"; label?: string }) {
  const share = Math.max(0, Math.min(1, p.share || 0));
  return (
    <div class="bar" role={p.label ? "img" : undefined} aria-label={p.label}>
      <i class={p.tone ?? ""} style={{ width: 100 * share + "%" }} />
    </div>
  );
}

export interface BarRow { name: string; share: number; text: string; tone?: "good" | "hot" | "two"; title?: string }

export function Bars(p: { rows: BarRow[] }) {
  const long = p.rows.some((r) => r.name.length > 22 || r.text.length > 18);
  return (
    <div class={"bars" + (long ? " long" : "")}>
      {p.rows.map((r) => [
        <span key={r.name} title={r.title}>{r.name}</span>,
        <Bar key={r.name + " bar"} share={r.share} tone={r.tone} />,
        <span key={r.name + " text"} class="num">{r.text}</span>,
      ])}
    </div>
  );
}

export function Choice<T extends string>(p: { label: string; value: T; of: [T, string][]; change(v: T): void }) {
  return (
    <label class="field">
      {p.label}
      <select value={p.value} onChange={(e) => p.change((e.currentTarget as HTMLSelectElement).value as T)}>
        {p.of.map(([v, text]) => <option key={v} value={v} selected={v === p.value}>{text}</option>)}
      </select>
    </label>
  );
}

/** Something that will not come by waiting, in words. */
export function Nothing(p: { what: string }) {
  return <div class="card empty">{p.what}</div>;
}

/** Something that is awaited. */
export function Waiting(p: { what: string }) {
  return <div class="empty waiting" role="status">{p.what}</div>;
}

/** A problem in words. */
export function Trouble(p: { text: string }) {
  return <div class="note error" role="alert">{p.text}</div>;
}

export function Ramp(p: { colours: string[]; from: string; to: string }) {
  return (
    <span>
      {p.from}{" "}
      <span class="ramp" style={{ backgroundImage: `linear-gradient(90deg, ${p.colours.join(",")})` }} /> {p.to}
    </span>
  );
}

/** A number of a column in the unit that it has. */
export function quantity(v: number, unit?: string): string {
  if (!Number.isFinite(v)) return "–";
  switch (unit) {
    case "us": return f.time(v);
    case "bytes": return v >= 1e6 ? f.bytes(v) : f.kib(v);
    case "share": return f.percent(v);
    case "percent": return f.percent(v / 100);
    case "bytes/s": return f.si(v, "B/s");
    case "flop": return f.si(v, "FLOP");
    default: return Math.abs(v) >= 1e6 ? f.si(v, "").trim() : f.short(v);
  }
}
