// Issue slots: what the schedulers of the whole device did with each, and which warps waited for what.
import type * as doc from "../model/documents";
import { ChosenBar, chosen, useExplained } from "../lib/chosen";
import { percent } from "../lib/format";
import { useDocument } from "../lib/load";
import { Bars, Card, Nothing, Numbers } from "../lib/parts";
import { use } from "../lib/store";
import { stallWords } from "../lib/words";
import type { ViewProps } from ".";
import { NotYet } from "./why";
import { NothingValid } from "./summary";

export function Slots({ sweep, data }: ViewProps) {
  const route = use((s) => s.route);
  const c = chosen(data, route.trial);
  const explained = useExplained(sweep.id, c?.trial);
  const trial = useDocument<doc.Trial>(c ? `data/sweeps/${sweep.id}/trials/${c.trial}` : undefined);
  if (!c) return route.trial === undefined ? <NothingValid sweep={sweep} /> : <ChosenBar d={data} />;
  const slots = explained.value?.document.configurations[0]?.report?.slots ?? [];
  const stalls = (trial.value?.warps_stalled_per_issue ?? []).filter((s) => s.value > 0);
  return (
    <>
      <ChosenBar d={data} />
      <NotYet loaded={explained} d={data} sweep={sweep.id} />
      {explained.value && !slots.length && <Nothing what="Issue slots are counted at level cycle only: this configuration was explained by the closed form." />}
      {slots.length > 0 && (
        <Card title="Issue slots" about={slotsSentence(slots)}>
          <SlotBars slots={slots} />
          <Numbers name="Issue slots" head={["Reason", "Share of slots"]} rows={() => slots.map((s) => [stallWords(s.name), percent(s.value)])} />
        </Card>
      )}
      {stalls.length > 0 && (
        <Card title="Warps that wait" about="Cycles that the warps of a scheduler wait, all together, for each instruction that it issues (Nsight Compute: smsp__average_warps_issue_stalled_…_per_issue_active).">
          <Bars rows={stalls.map((s) => ({ name: stallWords(s.name), title: s.name, share: s.value / stalls[0].value, text: s.value.toFixed(2) }))} />
          <Numbers name="Warps that wait" head={["Reason", "Cycles an instruction"]} rows={() => stalls.map((s) => [stallWords(s.name), s.value.toFixed(3)])} />
        </Card>
      )}
    </>
  );
}

export function SlotBars(p: { slots: doc.Named[] }) {
  const list = [...p.slots].sort((a, b) => b.value - a.value).filter((s) => s.value > 0.0005);
  return <Bars rows={list.map((s) => ({ name: stallWords(s.name), title: s.name, share: s.value, text: percent(s.value), tone: s.name === "issued" ? "good" as const : "two" as const }))} />;
}

const lower = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1);

function slotsSentence(slots: doc.Named[]): string {
  const issued = slots.find((s) => s.name === "issued")?.value ?? 0;
  const most = slots.filter((s) => s.name !== "issued").reduce((a, b) => (b.value > a.value ? b : a), { name: "", value: 0 });
  return `Of every cycle of every scheduler, ${percent(issued)} issued an instruction. The most frequent reason for which others did not, ${percent(most.value)}: ${lower(stallWords(most.name))}.`;
}
