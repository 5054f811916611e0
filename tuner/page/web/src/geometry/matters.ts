// Which parameters matter, and which interact: the functional ANOVA of Hooker (2007) that Hutter et al. (2014) brought
// to tuning. The logarithm of the time is taken apart into what one parameter explains by itself and what pairs
// explain beyond that, as shares of its variance over the configurations shown. Conditional means are over these
// configurations, each counted once; where conditions leave holes in the space, effects of parameters that vary
// together are not told apart.

export interface Column {
  /** Index of the value that each row has. */
  codes: ArrayLike<number>;
  /** How many values there are. */
  size: number;
}

export interface Matters {
  /** For each parameter, the share of the variance that it explains by itself. */
  alone: number[];
  /** For pairs i < j, the share that they explain beyond what each does, the largest first. */
  pairs: { i: number; j: number; share: number }[];
  /** Variance of log time. */
  variance: number;
  rows: number;
}

export function matters(columns: Column[], time: ArrayLike<number>, rows: ArrayLike<number>): Matters {
  const log = new Float64Array(rows.length);
  let sum = 0, n = 0;
  for (let k = 0; k < rows.length; k++) {
    log[k] = Math.log(time[rows[k]]);
    if (Number.isFinite(log[k])) { sum += log[k]; n++; }
  }
  const mean = n ? sum / n : 0;
  let variance = 0;
  for (const v of log) if (Number.isFinite(v)) variance += (v - mean) ** 2;
  const share = (ss: number) => (variance > 0 ? ss / variance : 0);
  const one = columns.map((c) => means(log, rows, c.size, (r) => c.codes[r]));
  const alone = one.map((m) => share(between(m, mean)));
  const pairs: Matters["pairs"] = [];
  for (let i = 0; i < columns.length; i++)
    for (let j = i + 1; j < columns.length; j++) {
      const a = columns[i], b = columns[j];
      const both = means(log, rows, a.size * b.size, (r) => a.codes[r] * b.size + b.codes[r]);
      const beyond = interaction(both, one[i], one[j], b.size, mean);
      pairs.push({ i, j, share: Math.max(0, share(beyond)) });
    }
  pairs.sort((x, y) => y.share - x.share);
  return { alone, pairs, variance: n ? variance / n : 0, rows: n };
}

interface Means { mean: Float64Array; count: Float64Array }

function means(log: Float64Array, rows: ArrayLike<number>, size: number, cell: (row: number) => number): Means {
  const mean = new Float64Array(size), count = new Float64Array(size);
  for (let k = 0; k < rows.length; k++) {
    if (!Number.isFinite(log[k])) continue;
    const c = cell(rows[k]);
    mean[c] += log[k];
    count[c]++;
  }
  for (let c = 0; c < size; c++) if (count[c]) mean[c] /= count[c];
  return { mean, count };
}

function between(m: Means, mean: number): number {
  let ss = 0;
  for (let c = 0; c < m.mean.length; c++) ss += m.count[c] * (m.mean[c] - mean) ** 2;
  return ss;
}

function interaction(both: Means, a: Means, b: Means, width: number, mean: number): number {
  let ss = 0;
  for (let c = 0; c < both.mean.length; c++) {
    if (!both.count[c]) continue;
    const rest = both.mean[c] - a.mean[Math.floor(c / width)] - b.mean[c % width] + mean;
    ss += both.count[c] * rest * rest;
  }
  return ss;
}

/** The fastest row of those that have each value of a parameter: -1 where no row has it. */
export function bestByValue(c: Column, time: ArrayLike<number>, rows: ArrayLike<number>): Int32Array {
  const best = new Int32Array(c.size).fill(-1);
  for (let k = 0; k < rows.length; k++) {
    const r = rows[k], v = c.codes[r];
    if (time[r] > 0 && (best[v] < 0 || time[r] < time[best[v]])) best[v] = r;
  }
  return best;
}
