// Predicted against measured: where both are known of a configuration, how far predictions hold on this GPU.
import type * as doc from "../model/documents";
import { drawScatter } from "../draw/scatter";
import { Chart } from "../lib/chart";
import { count, percent, plural, time, times } from "../lib/format";
import { useDocument } from "../lib/load";
import { Card, Numbers, Params, Trouble, Waiting } from "../lib/parts";
import { choose, href } from "../lib/route";
import { use } from "../lib/store";
import { config, configText, rowOf, type Data } from "../model/data";
import { isMeasured } from "../model/items";
import type { ViewProps } from ".";

export function MeasuredView({ sweep, data }: ViewProps) {
  const versions = use((s) => s.overview?.sweeps?.filter((x) => x.kernel === sweep.kernel).map((x) => x.revision).join(" "));
  const loaded = useDocument<doc.Measured>(`data/sweeps/${sweep.id}/measured`, versions);
  const m = loaded.value;
  if (loaded.problem) return <Trouble text={loaded.problem} />;
  if (!m) return <Waiting what="Looking for measured times of these configurations…" />;
  if (!m.predicted_us.length) return <NoPairs sweep={sweep} m={m} />;
  return (
    <>
      <Scores sweep={sweep} m={m} />
      <Scatter sweep={sweep} m={m} data={data} />
    </>
  );
}

function NoPairs(p: { sweep: doc.Sweep; m: doc.Measured }) {
  if (isMeasured(p.sweep))
    return <div class="note">{p.m.predicted_sweep ? "No configuration measured here is predicted in a sweep of this database." : "No predictions of this kernel, architecture and problem are in this database."}</div>;
  return (
    <div class="note">
      Nothing of this kernel, architecture and problem has been measured. On a machine with such a GPU: <code>warptune tune {p.sweep.kernel} --arch {p.sweep.arch.name} --confirm 10</code> measures the ten predicted fastest.
    </div>
  );
}

function Scores(p: { sweep: doc.Sweep; m: doc.Measured }) {
  const { m, sweep } = p, best = m.measured_best!;
  const other = isMeasured(sweep) ? m.predicted_sweep : m.measured_sweep;
  const there = use((s) => s.overview?.sweeps?.some((x) => x.id === other));
  return (
    <section class="card answer" aria-label="How far predictions hold">
      <section>
        <h2>What the prediction picks</h2>
        <div class="big" data-field="picked">{times(m.picked_over_best!)}</div>
        <p>is the measured time of the configuration predicted fastest, over that of the one measured fastest of these {plural(m.predicted_us.length, "configuration")}.</p>
      </section>
      <section>
        <h2>How near the times are</h2>
        <div class="mid"><span data-field="error">{percent(m.mean_error_share!)}</span> off in the mean</div>
        <p>Predicted over measured is <span data-field="bias">{times(m.bias!)}</span> in the geometric mean{m.rank_correlation === null ? "" : <>; Spearman's rank correlation is <span data-field="correlation">{m.rank_correlation.toFixed(3)}</span></>}.</p>
      </section>
      <section>
        <h2>Measured fastest</h2>
        <div class="mid">{time(best.measured_us)}, predicted {time(best.predicted_us)} as number {count(best.predicted_rank)}</div>
        <Params config={best.parameters} />
        <p class="small muted">{m.device && `Measured on ${m.device}. `}{there && <a href={href({ sweep: other, view: "summary", trial: undefined, other: undefined })}>{isMeasured(sweep) ? "The predictions" : "The measurements"}</a>}</p>
      </section>
    </section>
  );
}

function Scatter(p: { sweep: doc.Sweep; m: doc.Measured; data: Data }) {
  const { m, data } = p, route = use((s) => s.route);
  const trials = isMeasured(p.sweep) ? m.measured_trials : m.predicted_trials;
  const shown = route.trial ?? (data.order.length ? data.trial[data.order[0]] : -1);
  const name = (i: number) => { const row = rowOf(data, trials[i]); return row < 0 ? `trial ${trials[i]}` : configText(config(data, row)); };
  return (
    <Card title="Predicted against measured" about="Each point is a configuration. On the line both times are equal; above it, it took longer than predicted.">
      <Chart height={460} label={`Predicted against measured times of ${trials.length} configurations. Left and right go from one to the next by predicted time, Enter chooses`}
        deps={[m, shown]} choose={(h) => choose(trials[h.id])}
        draw={(ctx, w, h, t) => drawScatter(ctx, w, h, t, { predicted: m.predicted_us, measured: m.measured_us, text: name }, trials.indexOf(shown))} />
      <Numbers name="Predicted and measured" head={["Configuration", "Predicted", "Measured", "Measured over predicted"]}
        rows={() => trials.map((_, i) => [name(i), time(m.predicted_us[i]), time(m.measured_us[i]), times(m.measured_us[i] / m.predicted_us[i])])} />
    </Card>
  );
}
