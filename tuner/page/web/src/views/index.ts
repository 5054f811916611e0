// The views of a sweep, in the order of the list.
import type { ComponentType } from "preact";
import type * as doc from "../model/documents";
import type { Data } from "../model/data";
import type { SweepDocs } from "../lib/store";
import { Summary } from "./summary";
import { Configurations } from "./configurations";
import { Parameters } from "./parameters";
import { HeatMap } from "./heatmap";
import { Parallel } from "./parallel";
import { RooflineView } from "./roofline";
import { Why } from "./why";
import { Memory } from "./memory";
import { Slots } from "./slots";
import { Source } from "./source";
import { OccupancyView } from "./occupancy";
import { Compare } from "./compare";
import { Architectures } from "./architectures";
import { MeasuredView } from "./measured";
import { Progress } from "./progress";

export interface ViewProps { sweep: doc.Sweep; docs: SweepDocs; data: Data }

export interface View {
  id: string;
  title: string;
  /** Begins a group of the list, with this name. */
  group?: string;
  show: ComponentType<ViewProps>;
}

export const views: View[] = [
  { id: "summary", title: "Summary", group: "Sweep", show: Summary },
  { id: "configurations", title: "Configurations", show: Configurations },
  { id: "parameters", title: "What matters", show: Parameters },
  { id: "heatmap", title: "Heat map", show: HeatMap },
  { id: "parallel", title: "Parallel axes", show: Parallel },
  { id: "roofline", title: "Roofline", show: RooflineView },
  { id: "measured", title: "Measured", show: MeasuredView },
  { id: "why", title: "Why this fast", group: "Configuration", show: Why },
  { id: "memory", title: "Memory", show: Memory },
  { id: "slots", title: "Issue slots", show: Slots },
  { id: "source", title: "Source", show: Source },
  { id: "occupancy", title: "Occupancy", show: OccupancyView },
  { id: "compare", title: "Compare two", group: "Beside others", show: Compare },
  { id: "architectures", title: "Architectures", show: Architectures },
  { id: "progress", title: "Progress", show: Progress },
];
