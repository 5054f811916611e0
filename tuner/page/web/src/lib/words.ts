// Names of the simulator in words.

// Reasons for which an issue slot goes unused, or a warp waits, by Nsight Compute's names: what is waited for.
const waits: Record<string, string> = {
  wait: "results of arithmetic",
  short_scoreboard: "shared memory or the special-function unit",
  long_scoreboard: "data from L1, L2 or DRAM",
  imc_miss: "constants",
  lg_throttle: "room in the queue of global and local memory",
  mio_throttle: "room in the queue of shared memory and the special-function unit",
  math_pipe_throttle: "a busy arithmetic pipe",
  barrier: "other warps at a barrier",
  wgmma: "warpgroup products (wgmma)",
  membar: "a memory fence",
  branch_resolving: "a branch",
  no_instruction: "the next instruction",
};

const others: Record<string, string> = {
  issued: "An instruction was issued",
  not_selected: "Another warp was chosen (not_selected)",
  idle: "The scheduler had no warp",
};

/** A stall reason in words, with Nsight Compute's name. */
export const stallWords = (name: string): string => others[name] ?? (waits[name] ? `Waiting for ${waits[name]} (${name})` : name.replaceAll("_", " "));

// Units that may bound, by the simulator's names (simengine/timing's bounds).
const units: Record<string, string> = {
  issue: "Instruction issue",
  alu: "Integer and logic pipe (ALU)",
  fma: "FP32 multiply-add pipe (FMA)",
  imad: "Integer multiply-add pipe (IMAD)",
  fp64: "FP64 pipe",
  half: "Half-precision pipe",
  tensor: "Tensor cores",
  xu: "Special-function unit",
  lsu: "L1 and shared memory",
  constant: "Constant cache",
  l2: "L2 bandwidth",
  atomics: "Atomics in L2",
  dram: "DRAM bandwidth",
  launch: "Rate of launching CTAs",
  latency: "Latency",
};

/** What bounds, in words: "DRAM bandwidth", "Latency, waiting for data from L1, L2 or DRAM". */
export function boundWords(bound: string): string {
  const [unit, stall] = bound.split(" ("), reason = waits[stall?.replace(")", "") ?? ""];
  return (units[unit] ?? unit.replaceAll("_", " ")) + (reason ? `, waiting for ${reason}` : "");
}

/** What bounds, within a sentence. */
export function boundBy(bound: string): string {
  const words = boundWords(bound);
  return /^[A-Z][a-z]/.test(words) ? words[0].toLowerCase() + words.slice(1) : words;
}

const limiters: Record<string, string> = { warps: "warps", blocks: "CTAs", registers: "registers", shared_mem: "shared memory" };

/** What limits occupancy, in a word or two. */
export const limiterWords = (limiter: string): string => limiters[limiter] ?? limiter;

/** A value of a column of names, in words. */
export function nameWords(column: string, name: string): string {
  return column === "bound" ? boundWords(name) : column === "limiter" ? limiterWords(name) : name;
}

const whatIfs: Record<string, string> = {
  "bank conflicts": "shared memory had no bank conflicts",
  coalescing: "every access were coalesced",
  constants: "constants were read all at a time",
  "global atomics": "each CTA summed its atomics in shared memory first",
  "shared atomics": "atomics on shared memory did not wait for each other",
  "atomics in L2": "atomics cost L2 nothing",
  L1: "every load found its data in L1",
  DRAM: "every access found its data in L2",
  latency: "memory answered at once",
  dependency: "arithmetic answered at once",
  occupancy: "registers and shared memory did not limit occupancy",
  spills: "spills cost nothing",
  "local arrays": "local arrays were in registers",
  divergence: "no warp diverged",
  barriers: "nobody waited at barriers",
  launch: "launching CTAs took no time",
  "arithmetic pipes": "arithmetic pipes took an instruction a cycle",
  "L1 bandwidth": "L1 and shared memory moved bytes at no cost",
  "L2 bandwidth": "L2 moved bytes at no cost",
  "work of a CTA": "launching CTAs and what each does once cost nothing",
};

/** What one or several mechanisms ("latency, barriers") suppose, in words. */
export const whatIfWords = (without: string): string =>
  without.split(", ").map((one) => whatIfs[one] ?? `there were no ${one}`).join(" and ");

/** What a finding's gain supposes: "if …", or "without …" where it is not one of the what-ifs. */
export const gainWords = (topic: string): string => (topic.split(", ").every((one) => whatIfs[one]) ? `if ${whatIfWords(topic)}` : `without ${topic}`);
