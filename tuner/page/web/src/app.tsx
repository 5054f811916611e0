// The frame: which sweep, which view, and what is said of the server.
import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type * as doc from "./model/documents";
import { count } from "./lib/format";
import { help } from "./lib/keys";
import { refresh } from "./lib/load";
import { Trouble, Waiting } from "./lib/parts";
import { go, href } from "./lib/route";
import { use } from "./lib/store";
import { otherTheme } from "./lib/theme";
import { views } from "./views";
import { Sweeps, sweepName } from "./views/sweeps";

export function App() {
  const { overview, problem, route, docs, said } = use((s) => s);
  const sweeps = overview?.sweeps ?? [];
  const sweep = sweeps.find((s) => s.id === route.sweep);
  const view = views.find((v) => v.id === route.view) ?? views[0];
  useEffect(() => {
    if (overview && !route.sweep && sweeps.length && overview.static) go({ sweep: sweeps[0].id, view: "summary" });
  }, [overview]);
  useEffect(() => void refresh(), [route.sweep, overview]);
  useEffect(() => {
    document.title = sweep ? `${view.title} · ${sweepName(sweep)} · warptune` : "warptune";
  }, [sweep?.id, view.id]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")!.focus(); }}>To the content</a>
      <Top overview={overview} sweep={sweep} sweeps={sweeps} view={view.id} />
      {sweep ? <Nav view={view.id} sweep={sweep} /> : <nav class="nav" aria-label="Views"><a href="#/" aria-current="page">Sweeps</a></nav>}
      <main class="main" id="main" tabIndex={-1} data-view={sweep && docs?.id === sweep.id && docs.data ? view.id : undefined}>
        {problem && <Trouble text={problem} />}
        {!overview && !problem && <Waiting what="Reading…" />}
        {overview && !route.sweep && <Sweeps overview={overview} />}
        {overview && route.sweep && !sweep && <Trouble text={`There is no sweep ${route.sweep}. It may have been deleted.`} />}
        {sweep && (
          <>
            <h1 class="sr">{view.title} of {sweepName(sweep)}</h1>
            {docs?.problem && <Trouble text={docs.problem} />}
            {docs?.id === sweep.id && docs.data ? (
              <Guard key={view.id + sweep.id}><view.show sweep={sweep} docs={docs} data={docs.data} /></Guard>
            ) : !docs?.problem && <Waiting what="Reading the sweep's results…" />}
          </>
        )}
      </main>
      <div class="sr" role="status" aria-live="polite">{said}</div>
      <Help />
    </div>
  );
}

/** A view that fails says so, and the others go on. */
class Guard extends Component<{ children: ComponentChildren }, { failed?: string }> {
  state: { failed?: string } = {};
  componentDidCatch(error: Error) { this.setState({ failed: error.message }); }
  render() {
    return this.state.failed ? <Trouble text={`This view cannot be drawn: ${this.state.failed}.`} /> : this.props.children;
  }
}

function Top(p: { overview?: doc.Overview; sweep?: doc.Sweep; sweeps: doc.Sweep[]; view: string }) {
  const name = use((s) => s.theme);
  return (
    <header class="top">
      <a class="brand" href="#/">warptune</a>
      {p.sweep && (
        <label class="field">
          <span class="sr">Sweep</span>
          <select value={p.sweep.id} onChange={(e) => go({ sweep: (e.currentTarget as HTMLSelectElement).value, trial: undefined, other: undefined })}>
            {p.sweeps.map((s) => <option key={s.id} value={s.id} selected={s.id === p.sweep!.id}>{sweepName(s)}</option>)}
          </select>
        </label>
      )}
      {p.sweep && p.sweep.state !== "completed" && <span class="chip on">{p.sweep.state} · {count(p.sweep.counts.done)} of {count(p.sweep.counts.total)}</span>}
      <span class="spacer" />
      <span class="muted small source">{p.overview?.source}</span>
      {p.overview?.user && <LogOut user={p.overview.user} />}
      <button class="btn" onClick={otherTheme} aria-label={`Switch to ${name === "dark" ? "light" : "dark"}`}>{name === "dark" ? "Light" : "Dark"}</button>
      <button class="btn" onClick={() => (document.getElementById("help") as HTMLDialogElement).showModal()} aria-label="Keys">?</button>
    </header>
  );
}

function LogOut(p: { user: string }) {
  return (
    <form method="post" action="logout" class="row">
      <span class="small">{p.user}</span>
      <button class="btn" type="submit">Log out</button>
    </form>
  );
}

function Nav(p: { view: string; sweep: doc.Sweep }) {
  const failures = Object.entries(p.sweep.counts.by_validity).reduce((n, [k, v]) => (k === "correct" ? n : n + v), p.sweep.counts.abandoned);
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    const nav = list.current!, now = nav.querySelector<HTMLElement>("[aria-current]");
    if (now && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = now.offsetLeft - (nav.clientWidth - now.offsetWidth) / 2;
  }, [p.view]);
  return (
    <nav class="nav" aria-label="Views" ref={list}>
      {views.map((v) => [v.group && <span key={v.group} class="group">{v.group}</span>, (
        <a key={v.id} href={href({ view: v.id })} aria-current={v.id === p.view ? "page" : undefined}>
          {v.title}
          {v.id === "progress" && failures > 0 && <span class="count bad" title={`${count(failures)} failed`}>{count(failures)}</span>}
        </a>
      )])}
    </nav>
  );
}

function Help() {
  return (
    <dialog id="help" aria-label="Keys">
      <h2>Keys</h2>
      <dl>{help.map(([k, what]) => [<dt key={k}><kbd>{k}</kbd></dt>, <dd key={k + "d"}>{what}</dd>])}</dl>
      <form method="dialog"><button class="btn primary">Close</button></form>
    </dialog>
  );
}
