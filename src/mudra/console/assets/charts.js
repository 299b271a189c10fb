// Charts from the JSON that stands beside them in the page. Canvas and rich-text tooltips only:
// neither writes a style attribute, so the strict policy holds.
import { BarChart, LineChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, MarkAreaComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, LineChart, AriaComponent, GridComponent, LegendComponent, MarkAreaComponent, TooltipComponent, CanvasRenderer]);
window.drawn = init;
