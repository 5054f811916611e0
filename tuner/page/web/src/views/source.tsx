// The source with heat for each line, beside the PTX that it became.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type * as doc from "../model/documents";
import { ChosenBar, chosen, useExplained } from "../lib/chosen";
import { count, percent, si, times } from "../lib/format";
import { Card, Choice, Numbers, Nothing } from "../lib/parts";
import { use } from "../lib/store";
import { stallWords } from "../lib/words";
import type { ViewProps } from ".";
import { NotYet } from "./why";
import { NothingValid } from "./summary";
import { heatOf, joinLines, type Heat, type Measure } from "../model/lines";

const measures: [Measure, string][] = [
  ["stalls", "waiting warps"], ["instructions", "instructions"], ["sectors", "sectors of global memory"],
  ["excess", "sectors too many"], ["wavefronts", "wavefronts"], ["conflicts", "wavefronts too many"], ["dram", "bytes from DRAM"],
];

export function Source({ sweep, data }: ViewProps) {
  const route = use((s) => s.route);
  const c = chosen(data, route.trial);
  const explained = useExplained(sweep.id, c?.trial);
  if (!c) return route.trial === undefined ? <NothingValid sweep={sweep} /> : <ChosenBar d={data} />;
  const one = explained.value?.document.configurations[0], detail = explained.value?.details[0];
  return (
    <>
      <ChosenBar d={data} />
      <NotYet loaded={explained} d={data} sweep={sweep.id} />
      {one && detail && (one.report?.lines?.length ? <Both report={one.report} detail={detail} findings={one.explanation?.findings ?? []} />
        : <Nothing what="Lines are known at level cycle only: this configuration was explained by the closed form." />)}
    </>
  );
}

function Both(p: { report: doc.Report; detail: doc.Detail; findings: doc.Finding[] }) {
  const [measure, setMeasure] = useState<Measure>("stalls");
  const lines = p.report.lines!;
  const files = p.detail.sources ?? [];
  const [file, setFile] = useState(files[0]?.name ?? "");
  const heat = useMemo(() => heatOf(lines, measure), [lines, measure]);
  const joined = useMemo(() => joinLines(lines), [lines]);
  const [line, setLine] = useState<string>(() => p.findings.find((f) => f.line)?.line ?? hottest(heat));
  const pick = (name: string) => {
    setLine(name);
    const inFile = files.find((f) => name.startsWith(f.name + ":"));
    if (inFile) setFile(inFile.name);
  };
  const source = files.find((f) => f.name === file) ?? files[0];
  const ofPtx = joined.ptx;
  const chosenLine = lines.find((l) => l.line === line);
  const about = `Colour and figure: the line's share of ${measures.find(([m]) => m === measure)![1]}. Choose a line to see its PTX.`;
  return (
    <>
      <Card title="Source" about={about} tools={<>
        <Choice label="Colour by" value={measure} of={measures} change={(v) => setMeasure(v)} />
        {files.length > 1 && <Choice label="File" value={file} of={files.map((f) => [f.name, f.name])} change={setFile} />}
      </>}>
        <div class="grid2">
          {source ? (
            <Code name={source.name} text={source.text} share={(n) => heat.lines.get(`${source.name}:${n}`)} selected={(n) => `${source.name}:${n}` === line}
              choose={(n) => setLine(`${source.name}:${n}`)} />
          ) : <p class="muted">The source is not known: lines are those of the PTX.</p>}
          <Code name="PTX" text={p.detail.ptx} share={(n) => heat.ptx.get(n)} selected={(n) => ofPtx.get(n) === line} choose={(n) => ofPtx.has(n) && pick(ofPtx.get(n)!)} />
        </div>
        <Numbers name="Lines" head={["Line", "Waiting", "Instructions", "Sectors a request"]} rows={() => lines.map((l) => [
          l.line, percent(l.stall_share), si(l.warp_instructions, ""), (l.memory ?? []).map((m) => `${m.kind} ${(m.sectors / m.requests).toFixed(1)}`).join(", ")])} />
      </Card>
      {chosenLine && <LineDetail line={chosenLine} findings={p.findings.filter((f) => f.line === line)} />}
    </>
  );
}

function hottest(h: Heat): string {
  let best = "", most = -1;
  for (const [line, share] of h.lines) if (share > most) { most = share; best = line; }
  return best;
}

function Code(p: { name: string; text: string; share(line: number): number | undefined; selected(line: number): boolean; choose(line: number): void }) {
  const lines = p.text.replace(/\n$/, "").split("\n");
  const box = useRef<HTMLDivElement>(null);
  const first = lines.findIndex((_, i) => p.selected(i + 1));
  useEffect(() => {
    const b = box.current!, row = b.children[first] as HTMLElement | undefined;
    if (row && (row.offsetTop < b.scrollTop || row.offsetTop > b.scrollTop + b.clientHeight - 20)) b.scrollTop = row.offsetTop - b.clientHeight / 3;
  }, [first]);
  const key = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    for (let n = (first < 0 ? 0 : first + 1) + by; n >= 1 && n <= lines.length; n += by) if (p.share(n) !== undefined && !p.selected(n)) return p.choose(n);
  };
  return (
    <div class="code" ref={box} tabIndex={0} role="listbox" aria-label={`${p.name}: arrows go from line to line`} onKeyDown={key}>
      {lines.map((text, i) => {
        const share = p.share(i + 1);
        return (
          <div key={i} class={"codeline" + (share !== undefined ? " hasdata" : "") + (p.selected(i + 1) ? " selected" : "")} role="option" aria-selected={p.selected(i + 1)}
            data-line={i + 1} onClick={() => share !== undefined && p.choose(i + 1)}>
            <span class="ln">{i + 1}</span>
            <span class="heat">{share !== undefined && share > 0 && <><i style={{ width: Math.max(2, 100 * share) + "%" }} /><b>{percent(share)}</b></>}</span>
            <span class="txt">{text || " "}</span>
          </div>
        );
      })}
    </div>
  );
}

/** How many a request has, a dash where such accesses have none. */
const each = (n: number, requests: number): string => (n > 0 && requests > 0 ? (n / requests).toFixed(2) : "–");

function LineDetail(p: { line: doc.SourceLine; findings: doc.Finding[] }) {
  const l = p.line;
  const stalls = Object.entries(l.stall_warp_cycles ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 6);
  const all = stalls.reduce((n, [, v]) => n + v, 0);
  return (
    <Card title={l.line} about={`${si(l.warp_instructions, "warp instructions")}, ${(l.thread_instructions / l.warp_instructions || 0).toFixed(1)} lanes active, ${percent(l.stall_share)} of all waiting.`}>
      <div class="stack">
        {p.findings.map((f, i) => <p key={i} class="note warn">{f.evidence[0].toUpperCase() + f.evidence.slice(1)}. {f.remedy}.{f.times_faster ? ` ${times(f.times_faster)} faster without it.` : ""}</p>)}
        {stalls.length > 0 && <ul style={{ margin: 0, paddingLeft: "1.2em" }}>{stalls.map(([name, v]) => <li key={name}>{stallWords(name)}: {percent(v / all)}</li>)}</ul>}
        {(l.spill_loads > 0 || l.spill_stores > 0) && <p>{count(l.spill_loads)} reloads and {count(l.spill_stores)} stores of spilled registers.</p>}
        {l.memory && l.memory.length > 0 && (
          <div class="tablebox" tabIndex={0} role="region" aria-label="Accesses of the line">
            <table>
              <thead><tr><th>Access</th><th class="num">Requests</th><th class="num">Sectors a request</th><th class="num">ideal</th><th class="num">Wavefronts a request</th><th class="num">ideal</th><th class="num">From L1</th><th class="num">From L2</th><th class="num">From DRAM</th></tr></thead>
              <tbody>{l.memory.map((m) => (
                <tr key={m.kind}><th scope="row">{m.kind}</th><td class="num">{si(m.requests, "")}</td>
                  <td class="num">{each(m.sectors, m.requests)}</td><td class="num">{each(m.ideal_sectors, m.requests)}</td>
                  <td class="num">{each(m.wavefronts, m.requests)}</td><td class="num">{each(m.ideal_wavefronts, m.requests)}</td>
                  <td class="num">{si(m.l1_hit_bytes, "B")}</td><td class="num">{si(m.l2_bytes, "B")}</td><td class="num">{si(m.dram_read_bytes, "B")}</td></tr>
              ))}</tbody>
            </table>
          </div>
        )}
      </div>
    </Card>
  );
}
