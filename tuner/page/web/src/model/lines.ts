// What lines of the source and of the PTX take, as shares of the whole launch.
import type * as doc from "./documents";

export type Measure = "stalls" | "instructions" | "sectors" | "excess" | "wavefronts" | "conflicts" | "dram";

export interface Heat {
  /** Share by "file:line". */
  lines: Map<string, number>;
  /** Share by line of the PTX. */
  ptx: Map<number, number>;
}

export function heatOf(lines: doc.SourceLine[], measure: Measure): Heat {
  const amounts = lines.map((l) => amount(l, measure));
  const all = amounts.reduce((a, b) => a + b, 0) || 1;
  const heat: Heat = { lines: new Map(), ptx: new Map() };
  lines.forEach((l, i) => {
    heat.lines.set(l.line, amounts[i] / all);
    ptxShares(l, measure, amounts[i] / all, heat.ptx);
  });
  return heat;
}

function amount(l: doc.SourceLine, m: Measure): number {
  const sum = (of: (x: doc.LineMemory) => number) => (l.memory ?? []).reduce((n, x) => n + of(x), 0);
  switch (m) {
    case "stalls": return l.stall_share;
    case "instructions": return l.warp_instructions;
    case "sectors": return sum((x) => x.sectors);
    case "excess": return sum((x) => Math.max(0, x.sectors - x.ideal_sectors));
    case "wavefronts": return sum((x) => x.wavefronts);
    case "conflicts": return sum((x) => Math.max(0, x.wavefronts - x.ideal_wavefronts));
    case "dram": return sum((x) => x.dram_read_bytes);
  }
}

/** A line's share over its PTX: by what waits or is executed; accesses belong to the memory instructions. */
function ptxShares(l: doc.SourceLine, m: Measure, share: number, out: Map<number, number>): void {
  const list = l.instructions ?? [];
  const weight = (i: doc.Instruction): number => {
    if (m === "stalls") return (i.machine ?? []).reduce((n, x) => n + x.stall_warp_cycles, 0);
    if (m === "instructions") return (i.machine ?? []).reduce((n, x) => n + x.warp_instructions, 0);
    return /^(@\S+\s+)?(ld|st|atom|red|cp)\b/.test(i.ptx) ? i.executions : 0;
  };
  const all = list.reduce((n, i) => n + weight(i), 0);
  for (const i of list) out.set(i.ptx_line, (out.get(i.ptx_line) ?? 0) + (all > 0 ? (share * weight(i)) / all : 0));
}

/** Which line of the source each line of the PTX belongs to. */
export function joinLines(lines: doc.SourceLine[]): { ptx: Map<number, string> } {
  const ptx = new Map<number, string>();
  for (const l of lines) for (const i of l.instructions ?? []) ptx.set(i.ptx_line, l.line);
  return { ptx };
}
