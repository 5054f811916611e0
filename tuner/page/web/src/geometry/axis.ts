// Log axes: positions and ticks.
import { scaleLog, scaleLinear } from "d3-scale";

export interface Axis {
  (value: number): number;
  ticks: number[];
  invert(position: number): number;
}

export function logAxis(low: number, high: number, from: number, to: number, want = 6): Axis {
  const s = scaleLog([low, high], [from, to]);
  const all = s.ticks(want);
  const decades = all.filter((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9);
  const oneTwoFive = all.filter((t) => [1, 2, 5].includes(Math.round(t / 10 ** Math.floor(Math.log10(t) + 1e-9))));
  const thin = (list: number[]) => list.filter((_, i) => i % Math.ceil(list.length / want) === 0);
  return Object.assign((v: number) => s(v), { ticks: decades.length >= 3 ? thin(decades) : thin(oneTwoFive.length >= 3 ? oneTwoFive : all), invert: (p: number) => s.invert(p) });
}

export function linearAxis(low: number, high: number, from: number, to: number, want = 6): Axis {
  const s = scaleLinear([low, high], [from, to]);
  return Object.assign((v: number) => s(v), { ticks: s.ticks(want), invert: (p: number) => s.invert(p) });
}
