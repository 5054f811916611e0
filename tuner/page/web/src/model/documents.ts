// The documents that the server answers with: package tuner/page in Go says what each field is.

export type Value = number | string | boolean;
export type Config = Record<string, Value>;
export type Unknown = number | null;

export interface Peak { unit: string; per_second: number; of: string }

export interface Arch {
  name: string;
  title: string;
  compute_capability: string;
  sms: number;
  clock_mhz: number;
  registers_per_sm: number;
  max_threads_per_cta: number;
  max_warps_per_sm: number;
  max_ctas_per_sm: number;
  shared_bytes_per_cta: number;
  carve_outs_bytes: number[];
  l2_bytes: number;
  dram_bytes: number;
  memory: Peak[];
  compute: Peak[];
  unverified_figures: number;
  figures: number;
}

export interface Best { trial: number; parameters: Config; time_us: number; bound: string; confirmed: boolean }
export interface Failure { trial: number; validity: string; config: string; message: string }
export interface Aside { worker: string; why: string }

export interface Counts {
  space: number; total: number; asked: number; queued: number; leased: number; done: number;
  abandoned: number; reused: number; requeued: number;
  by_validity: Record<string, number>;
}

export interface Sweep {
  id: string;
  kernel: string;
  problem: number[] | null;
  arch: Arch;
  strategy: string;
  levels: string[];
  owner?: string;
  state: string;
  message?: string;
  counts: Counts;
  submitted_ms: number;
  ended_ms: number;
  results_per_second: number;
  left_seconds: Unknown;
  left_at_most?: boolean;
  workers: number;
  best: Best | null;
  failures: Failure[] | null;
  set_aside?: Aside[];
  distrusted_workers?: Aside[];
  caution?: string;
  proven_gap_share: Unknown;
  expected_gain_share: Unknown;
  revision: string;
}

export interface Worker {
  name: string; slots: number; engine: string; held: number; reported: number; silent_seconds: number;
  draining?: boolean; refused?: string; set_aside?: string; labels?: Record<string, string>;
}

export interface Overview {
  source: string;
  static?: boolean;
  user?: string;
  role?: string;
  engine: string;
  sweeps: Sweep[] | null;
  workers: Worker[] | null;
  damaged_sweeps?: number;
}

export interface Column {
  name: string;
  title: string;
  unit?: string;
  kind: "integer" | "real" | "truth" | "text";
  help?: string;
  shown?: boolean;
  better?: "less" | "more";
  numbers?: Unknown[];
  codes?: number[];
  dictionary?: Value[];
}

export interface Traffic { level: string; column: string; bytes_per_second: number }
export interface Roofline { title: string; work: string; work_of: string; ceilings: Peak[]; traffic: Traffic[]; note: string }

export interface Table {
  sweep: string;
  epoch: string;
  from: number;
  rows: number;
  complete: boolean;
  parameters: Column[] | null;
  columns: Column[] | null;
  rooflines: Roofline[] | null;
  damaged_rows?: number;
}

export interface Ranking {
  epoch: string;
  rows: number;
  order: number[] | null;
  groups: number[] | null;
  ties: number;
  ties_share: number;
  expected_error: { share: number; configurations: number; of: string[] | null; borrowed: boolean; text: string };
  notes: string[] | null;
}

export interface Failures { trials: number[] | null; validity: Column; message: Column }

export interface MainEffect {
  parameter: string;
  variance_share: number;
  values: Value[];
  mean_time_us: Unknown[];
  best_time_us: Unknown[];
  evaluated: number[];
  failed: number[];
}
export interface Importance {
  method: string;
  rests_on: string;
  configurations: number;
  fit_r2: Unknown;
  main: MainEffect[] | null;
  interactions: { parameters: [string, string]; variance_share: number }[] | null;
  rest_share: number;
}

export interface Named { name: string; value: number }
export interface MemoryLevel {
  level: string;
  title: string;
  capacity_bytes: Unknown;
  in_use_bytes: Unknown;
  read_bytes: Unknown;
  written_bytes: Unknown;
  counts: string;
  hit_share: Unknown;
  bytes_per_second: Unknown;
  peak_bytes_per_second: Unknown;
  use_share: Unknown;
  rate_of: string;
  saturated: boolean;
  figures: Named[] | null;
}
export interface Trial {
  trial: number;
  parameters: Config;
  validity: string;
  message?: string;
  level: string;
  compiler: string;
  digest: string;
  checked: { ctas: number; full: number; of: number; for: string; for_full: string; outputs: string; warnings: string };
  time_us: number;
  memory: MemoryLevel[] | null;
  warps_stalled_per_issue: Named[] | null;
  metrics: Record<string, number> | null;
}

export interface Rate {
  unit: string; achieved: number; peak: number; per: string; bytes?: number; flop?: number;
  flop_per_dram_byte?: number; ridge_flop_per_dram_byte?: number;
}
export interface Finding {
  topic: string; line?: string; text?: string; evidence: string; remedy: string;
  time_us?: number; times_faster?: number; estimated?: boolean;
  then_bound_by?: string; still_bound?: boolean; relieves?: string; beyond?: string;
  overlaps?: boolean; with_first?: { topic: string; time_us: number; times_faster: number }; with?: { topic: string; time_us: number; times_faster: number }; outside_kernel?: boolean;
}
export interface LineMemory {
  kind: string; requests: number; sectors: number; ideal_sectors: number; wavefronts: number; ideal_wavefronts: number;
  l1_hit_bytes: number; l2_bytes: number; dram_read_bytes: number; same_address: number;
}
export interface Machine { kind: string; warp_instructions: number; stall_warp_cycles: number }
export interface Instruction { ptx_line: number; ptx: string; executions: number; active_lanes: number; machine: Machine[] | null }
export interface SourceLine {
  line: string;
  warp_instructions: number;
  thread_instructions: number;
  stall_share: number;
  stall_warp_cycles: Record<string, number> | null;
  spill_stores: number;
  spill_loads: number;
  memory?: LineMemory[];
  instructions: Instruction[] | null;
}
export interface Report {
  time_us: number;
  cycles: number;
  registers: number;
  occupancy: number;
  limiter: string;
  bound: string;
  waves: number;
  use: Named[] | null;
  slots: Named[] | null;
  metrics: Record<string, number>;
  lines?: SourceLine[];
}
export interface Explanation { headline: string; timing: string; certainty: string; rates: Rate[] | null; findings: Finding[] | null }
export interface ExplainedConfig {
  parameters: Config;
  validity: string;
  message?: string;
  compiler?: string;
  explanation?: Explanation;
  what_ifs?: { without: string; time_us: number; times_faster: number }[];
  report?: Report;
}
export interface Curve { x: number[]; ctas: number[]; warps: number[]; share: number[]; limiter: string[] }
export interface Occupancy {
  present: { threads: number; registers: number; shared_bytes: number; carve_out_bytes: number; ctas: number; warps: number; share: number; limiter: string };
  by_threads: Curve;
  by_registers: Curve;
  by_shared_bytes: Curve;
  note: string;
  ctas_by_resource: Record<string, number> | null;
}
export interface Detail {
  sources: { name: string; text: string }[] | null;
  ptx: string;
  grid: [number, number, number];
  block: [number, number, number];
  occupancy: Occupancy | null;
  sentences: { topic: string; line?: string; text: string }[] | null;
}
export interface Explained {
  trials: number[];
  document: {
    kernel: string; arch: string; level: string;
    configurations: ExplainedConfig[];
    comparisons?: { from: Config; to: Config; time_ratio: number; sentences: string[] }[];
  };
  details: Detail[];
}

export interface Measured {
  predicted_sweep: string;
  measured_sweep: string;
  device: string;
  predicted_trials: number[];
  measured_trials: number[];
  predicted_us: number[];
  measured_us: number[];
  mean_error_share: Unknown;
  bias: Unknown;
  rank_correlation: Unknown;
  picked_over_best: Unknown;
  measured_best: { parameters: Config; measured_us: number; predicted_us: number; predicted_rank: number } | null;
}

export interface Comparison {
  sweeps: { sweep: string; kernel: string; arch: string; title: string; problem: number[] | null; state: string; best: Best | null; caution?: string }[];
  pairs: { best_of: string; on: string; trial: Unknown; time_us: Unknown; over_best: Unknown; rank_correlation: Unknown; common: number }[] | null;
  common: number;
  best_for_all: { parameters: Config; over_best: number[]; worst_over_best: number } | null;
}
