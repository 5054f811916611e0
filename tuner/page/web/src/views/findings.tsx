// Findings, the largest gain first: where, what is seen, what to do, what it gains.
import type * as doc from "../model/documents";
import { time, times } from "../lib/format";
import { gainWords, whatIfWords } from "../lib/words";
import { href } from "../lib/route";

export function Findings(p: { findings: doc.Finding[]; time?: number }) {
  return (
    <ol class="findings">
      {p.findings.map((f, i) => (
        <li class="finding" key={i}>
          <div>
            {f.times_faster ? <div class="gain good">{f.estimated ? "≈ " : ""}{times(f.times_faster)}</div> : <div class="gain muted">–</div>}
            {f.time_us ? <div class="small muted">{time(f.time_us)}</div> : null}
          </div>
          <div class="stack" style={{ gap: "4px" }}>
            <strong>{f.remedy.replace(/\.?$/, ".")}</strong>
            <span>{capital(f.evidence).replace(/\.?$/, ".")}</span>
            {f.line && (
              <span class="small"><a href={href({ view: "source" })}>{f.line}</a> · {f.topic}{f.times_faster ? `: the gain is the time ${gainWords(f.topic)}` : ""}</span>
            )}
            {f.then_bound_by && <span class="small">{f.still_bound ? `${capital(f.then_bound_by)} would still bound it.` : `Then ${f.then_bound_by} would bound it.`}</span>}
            {f.relieves && <span class="small">{capital(f.relieves)}.</span>}
            {f.beyond && <span class="small">A change may gain more: {f.beyond}.</span>}
            {f.with_first && <span class="small">Together with finding 1: <b class="good">{times(f.with_first.times_faster)}</b> faster{f.overlaps ? ", hardly more than that by itself" : ""}.</span>}
            {f.with && <span class="small">And if {whatIfWords(f.with.topic)}, too: <b class="good" data-field="with">{times(f.with.times_faster)}</b> faster, {time(f.with.time_us)}.</span>}
            {f.text && <code class="src">{f.text}</code>}
          </div>
        </li>
      ))}
    </ol>
  );
}

const capital = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);
