// Names of the simulator in words.

const stalls: Record<string, string> = {
  issued: "An instruction was issued",
  long_scoreboard: "Waits for global, local or texture memory",
  short_scoreboard: "Waits for shared memory, or a slow unit",
  barrier: "Waits at a barrier",
  mio_throttle: "The shared-memory queue is full",
  lg_throttle: "The global-memory queue is full",
  math_pipe_throttle: "The arithmetic pipe is busy",
  wait: "Waits a fixed latency",
  not_selected: "Another warp was chosen",
  branch_resolving: "Waits for a branch",
  no_instruction: "Waits for the instruction cache",
  imc_miss: "Waits for a constant",
  membar: "Waits for a memory fence",
  dispatch: "The dispatch unit is busy",
  drain: "Waits for stores at the end",
  gmma: "Waits for the tensor cores",
  sleeping: "Sleeps",
  tex_throttle: "The texture queue is full",
  idle: "No warp was there",
  tail: "No work was left for the SM",
};

/** A stall reason in words; its own name if there are none. */
export const stallWords = (name: string): string => stalls[name] ?? name.replaceAll("_", " ");

const bounds: Record<string, string> = {
  dram: "DRAM bandwidth",
  l2: "L2 bandwidth",
  lsu: "L1 and shared memory",
  l1: "L1 and shared memory",
  issue: "Instruction issue",
  latency: "Latency",
  fma: "Multiply-add pipe",
  fp32: "FP32 arithmetic",
  fp64: "FP64 arithmetic",
  alu: "Integer arithmetic",
  xu: "Special-function unit",
  tensor: "Tensor cores",
  launch: "Launching",
  atomics: "Atomics",
};

export function boundWords(bound: string): string {
  const [unit] = bound.split(" ");
  return bounds[unit] ?? unit.replaceAll("_", " ");
}

const whatIfs: Record<string, string> = {
  "bank conflicts": "shared memory had no bank conflicts",
  coalescing: "every access were coalesced",
  constants: "constants were read all at a time",
  atomics: "atomics did not wait for each other",
  L1: "every load found its data in L1",
  DRAM: "every access found its data in L2",
  latency: "memory answered at once",
  dependency: "arithmetic answered at once",
  occupancy: "registers and shared memory did not limit occupancy",
  spills: "spills cost nothing",
  divergence: "no warp diverged",
  barriers: "nobody waited at barriers",
  launch: "launching cost nothing",
};

export const whatIfWords = (without: string): string => whatIfs[without] ?? `there were no ${without}`;

/** What a finding's gain supposes: "if …", or "without …" where it is not one of the what-ifs. */
export const gainWords = (topic: string): string => (whatIfs[topic] ? `if ${whatIfs[topic]}` : `without ${topic}`);
