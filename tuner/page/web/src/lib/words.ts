// Names of the simulator in words.

// Reasons for which an issue slot goes unused, by Nsight Compute's names.
const stalls: Record<string, string> = {
  issued: "An instruction was issued",
  wait: "Waits for results of arithmetic",
  short_scoreboard: "Waits for shared memory, or the special-function unit",
  long_scoreboard: "Waits for data from L1, L2 or DRAM",
  imc_miss: "Waits for constants",
  lg_throttle: "The queue of global and local memory is full",
  mio_throttle: "The queue of shared memory is full",
  math_pipe_throttle: "The arithmetic pipe is busy",
  barrier: "Waits at a barrier",
  membar: "Waits for a memory fence",
  branch_resolving: "Waits for a branch",
  no_instruction: "Waits for instructions",
  not_selected: "Another warp was chosen",
  idle: "No warp was there",
};

/** A stall reason in words; its own name if there are none. */
export const stallWords = (name: string): string => stalls[name] ?? name.replaceAll("_", " ");

// Units that may bound, by the simulator's names (simengine/timing's bounds).
const bounds: Record<string, string> = {
  issue: "Instruction issue",
  alu: "Integer arithmetic",
  fma: "Multiply-add pipe",
  imad: "Integer multiply-add",
  fp64: "FP64 arithmetic",
  half: "Half-precision arithmetic",
  tensor: "Tensor cores",
  xu: "Special-function unit",
  lsu: "L1 and shared memory",
  constant: "Constant cache",
  l2: "L2 bandwidth",
  atomics: "Atomics in L2",
  dram: "DRAM bandwidth",
  launch: "Launching CTAs",
  latency: "Latency",
};

export function boundWords(bound: string): string {
  const [unit] = bound.split(" ");
  return bounds[unit] ?? unit.replaceAll("_", " ");
}

/** What bounds, within a sentence. */
export function boundBy(bound: string): string {
  const words = boundWords(bound);
  return /^[A-Z][a-z]/.test(words) ? words[0].toLowerCase() + words.slice(1) : words;
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
