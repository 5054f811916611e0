import { render } from "preact";
import { App } from "./app";
import { poll, refresh } from "./lib/load";
import { follow } from "./lib/route";
import { startKeys } from "./lib/keys";
import { startTheme } from "./lib/theme";
import "uplot/dist/uPlot.min.css";
import "./style.css";

startTheme();
startKeys();
follow();
addEventListener("hashchange", () => { follow(); void refresh(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) void refresh(); });
render(<App />, document.getElementById("page")!);
void poll();
