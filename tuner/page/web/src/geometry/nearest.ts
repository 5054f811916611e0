// The nearest of many points to a place, by a grid of buckets.

export interface Points {
  x: Float32Array;
  y: Float32Array;
  /** What each point stands for: an index of a row. */
  row: Uint32Array;
}

const side = 24; // pixels

export function finder(p: Points, width: number, height: number): (x: number, y: number) => number {
  const w = Math.max(1, Math.ceil(width / side)), h = Math.max(1, Math.ceil(height / side));
  const cell = (x: number, y: number) =>
    Math.min(h - 1, Math.max(0, Math.floor(y / side))) * w + Math.min(w - 1, Math.max(0, Math.floor(x / side)));
  const start = new Uint32Array(w * h + 1);
  for (let i = 0; i < p.x.length; i++) start[cell(p.x[i], p.y[i]) + 1]++;
  for (let c = 0; c < w * h; c++) start[c + 1] += start[c];
  const next = start.slice(), order = new Uint32Array(p.x.length);
  for (let i = 0; i < p.x.length; i++) order[next[cell(p.x[i], p.y[i])]++] = i;
  return (x, y) => {
    let found = -1, least = side * side;
    for (let dy = -1; dy <= 1; dy++)
      for (let dx = -1; dx <= 1; dx++) {
        const cx = Math.floor(x / side) + dx, cy = Math.floor(y / side) + dy;
        if (cx < 0 || cy < 0 || cx >= w || cy >= h) continue;
        for (let k = start[cy * w + cx]; k < start[cy * w + cx + 1]; k++) {
          const i = order[k], d = (p.x[i] - x) ** 2 + (p.y[i] - y) ** 2;
          if (d < least) { least = d; found = i; }
        }
      }
    return found;
  };
}
