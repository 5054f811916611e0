import { render } from "preact";
import { App } from "./app";
import { isReport } from "./lib/client";
import { poll, refresh } from "./lib/load";
import { follow } from "./lib/route";
import { startKeys } from "./lib/keys";
import { startTheme } from "./lib/theme";
import "uplot/dist/uPlot.min.css";
import "./style.css";

if (!isReport) document.head.append(Object.assign(document.createElement("link"), { rel: "icon", href: "assets/icon.svg" }));
startTheme();
startKeys();
follow();
addEventListener("hashchange", () => { follow(); void refresh(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) void refresh(); });
render(<App />, document.getElementById("page")!);
void poll();
