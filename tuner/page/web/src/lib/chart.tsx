// A canvas with a second one above it for what is pointed at, so that pointing draws nothing again. Arrow keys walk
// through a chart's marks as the pointer does, and Enter chooses.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { say, use } from "./store";
import { theme, type Theme } from "./theme";

/** What is pointed at: where, and what is said of it. */
export interface Hit {
  x: number;
  y: number;
  text: string;
  /** What choosing it is about: a row, or what the chart likes. */
  id: number;
  /** A box to outline instead of a point. */
  box?: [number, number, number, number];
}

export interface Drawn {
  hit?(x: number, y: number): Hit | null;
  /** The mark that is next for an arrow key. */
  walk?(from: Hit | null, dx: number, dy: number): Hit | null;
}

interface Props {
  label: string;
  height: number;
  draw(ctx: CanvasRenderingContext2D, width: number, height: number, t: Theme): Drawn;
  choose?(hit: Hit): void;
  /** A gesture from a press to a release, for brushes; claims it by returning true at the press. */
  drag?(phase: "start" | "move" | "end", x: number, y: number): boolean;
  deps: unknown[];
}

export function Chart(p: Props) {
  const box = useRef<HTMLDivElement>(null), base = useRef<HTMLCanvasElement>(null), over = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn>({}), dragging = useRef(false);
  const [width, setWidth] = useState(0);
  const [hit, setHit] = useState<Hit | null>(null);
  const name = use((s) => s.theme);
  useLayoutEffect(() => {
    const measure = () => setWidth(box.current?.clientWidth ?? 0);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!width) return;
    drawn.current = p.draw(context(base.current!, width, p.height), width, p.height, theme(name));
    setHit(null);
  }, [width, p.height, name, ...p.deps]);
  useLayoutEffect(() => {
    if (width) mark(context(over.current!, width, p.height), hit, theme(name));
  }, [hit, width, name]);
  const at = (e: PointerEvent): [number, number] => {
    const r = box.current!.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  };
  const move = (e: PointerEvent) => {
    const [x, y] = at(e);
    if (dragging.current) return void p.drag!("move", x, y);
    setHit(drawn.current.hit?.(x, y) ?? null);
  };
  const down = (e: PointerEvent) => {
    if (!p.drag || !p.drag("start", ...at(e))) return;
    dragging.current = true;
    box.current!.setPointerCapture(e.pointerId);
  };
  const up = (e: PointerEvent) => {
    if (!dragging.current) return;
    dragging.current = false;
    p.drag!("end", ...at(e));
  };
  const click = (e: MouseEvent) => {
    const found = drawn.current.hit?.(...at(e as PointerEvent));
    if (found) { setHit(found); p.choose?.(found); }
  };
  const key = (e: KeyboardEvent) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (step && drawn.current.walk) {
      e.preventDefault();
      const next = drawn.current.walk(hit, step[0], step[1]);
      if (next) { setHit(next); say(next.text); }
    } else if (e.key === "Enter" && hit) p.choose?.(hit);
    else if (e.key === "Escape") setHit(null);
  };
  return (
    <div ref={box} class="chart" tabIndex={0} role="group" aria-roledescription="chart" aria-label={p.label}
      style={{ height: p.height + "px" }} onPointerMove={move} onPointerDown={down} onPointerUp={up}
      onPointerCancel={() => (dragging.current = false)} onPointerLeave={() => setHit(null)} onClick={click} onKeyDown={key}>
      <canvas ref={base} aria-hidden="true" style={{ position: "absolute", height: p.height + "px" }} />
      <canvas ref={over} aria-hidden="true" style={{ position: "absolute", height: p.height + "px" }} />
      {hit && <div class="tip" style={place(hit, width, p.height)}>{hit.text}</div>}
    </div>
  );
}

function place(h: Hit, width: number, height: number): { left?: string; right?: string; top?: string; bottom?: string } {
  const side = h.x > width / 2 ? { right: Math.max(0, width - h.x + 12) + "px" } : { left: h.x + 12 + "px" };
  return { ...side, ...(h.y > height * 0.6 ? { bottom: height - h.y + 8 + "px" } : { top: h.y + 10 + "px" }) };
}

function context(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext("2d")!;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  return ctx;
}

function mark(ctx: CanvasRenderingContext2D, hit: Hit | null, t: Theme): void {
  if (!hit) return;
  ctx.strokeStyle = t.text;
  ctx.lineWidth = 2;
  ctx.beginPath();
  if (hit.box) ctx.rect(...hit.box);
  else ctx.arc(hit.x, hit.y, 6, 0, 7);
  ctx.stroke();
}
