// Charts from the figures next to them in the page; the table under them says the same.
// Canvas and rich-text tooltips only: neither writes a style attribute, so the strict policy holds.
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, LineChart, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);

const drawn = new Map();
// English pages have the reader's own habits, others the language of the page (console.js).
const lang = document.documentElement.lang;
const locale = lang.startsWith("en") ? undefined : lang;
const number = new Intl.NumberFormat(locale);
const timeZone = document.querySelector('meta[name="time-zone"]')?.content; // empty: the browser's
const word = (at, options) => new Intl.DateTimeFormat(locale, { timeZone, ...(locale && { hourCycle: "h23" }), ...options }).format(new Date(at));
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// Texts are those of the page, in its language: {name} is the place of a value.
let texts = {};
const text = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
// What is at an axis is round: 9 s next to 12 s, not 9,000 ms. Its foot is 0, whatever the unit.
// One unit for all labels of an axis: from one second on, tenths of seconds say enough.
const milliseconds = (v) => (v >= 1000
  ? text("seconds", { seconds: number.format(Math.round(v / 100) / 10) })
  : text("milliseconds", { milliseconds: number.format(v) }));

// Steps are those of UTC: an hour of it begins at half past in India, and a day at 05:30. So each
// time has its minutes, and a day is named by UTC.
function label(data, at) {
  if (data.step >= 86400) return word(at, { month: "short", day: "2-digit", timeZone: "UTC" });
  if (data.step > 3600) return word(at, { month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit" });
  return word(at, { hour: "2-digit", minute: "2-digit" });
}

function moment(data, at) {
  if (data.step >= 86400) return text("dayOfUtc", { day: word(at, { dateStyle: "medium", timeZone: "UTC" }) });
  return word(at, { month: "short", day: "numeric", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
}

function marks(data) {
  const index = (at) => data.starts.findLastIndex((start) => start <= at);
  const last = data.starts.length - 1;
  return data.marks.map(([from, to]) => [
    { xAxis: Math.max(0, index(from)) },
    { xAxis: to === null ? last : Math.max(0, index(to)) },
  ]);
}

const line = (name, values, tint, more = {}) => ({
  name, type: "line", data: values, symbol: "circle", symbolSize: 5, showSymbol: values.length < 50,
  lineStyle: { width: 2, color: tint }, itemStyle: { color: tint }, connectNulls: false, ...more,
});

const incidents = (data) => ({
  markArea: { silent: true, itemStyle: { color: colour("down"), opacity: 0.1 }, data: marks(data) },
});

// The least value of the axis of success: what is under it is cut off, and the caption says so.
const floor = (values) => Math.max(0, Math.floor((Math.min(...values.filter((v) => v !== null), 96) - 2) / 2) * 2);

function success(data) {
  const min = floor(data.success);
  return {
    cut: min > 0 ? text("cut", { min }) : "",
    yAxis: { min, max: 100, axisLabel: { formatter: "{value} %" } },
    series: [line(text("success"), data.success, colour("accent"), {
      ...incidents(data),
      markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colour("quiet"), type: "dashed" }, data: [{ yAxis: 95 }] },
    })],
    say: (i) => [data.success[i] === null ? text("gap") : text("succeeded", { share: number.format(data.success[i]) })],
  };
}

function times(data) {
  const said = (name, v) => (v === null ? [] : [text("about", { name, time: milliseconds(v) })]);
  return {
    legend: ["p50", "p95"],
    yAxis: { min: 0, axisLabel: { formatter: (v) => (v === 0 ? "0" : milliseconds(v)) } },
    series: [
      line("p50", data.p50, colour("accent")),
      line("p95", data.p95, colour("aa"), { lineStyle: { width: 2, type: "dashed", color: colour("aa") } }),
    ],
    say: (i) => (data.p50[i] === null ? [text("noAnswers")] : [...said("p50", data.p50[i]), ...said("p95", data.p95[i])]),
  };
}

function volume(data) {
  const parts = [["OK", "ok", "ok"], ["4xx", "client", "none"], ["5xx", "server", "down"], [text("noAnswer"), "unanswered", "partly"]];
  return {
    legend: parts.map(([name]) => name),
    yAxis: { min: 0, axisLabel: { formatter: (v) => number.format(v) } },
    series: parts.map(([name, key, tint]) => ({ name, type: "bar", stack: "all", barMaxWidth: 22, data: data[key], itemStyle: { color: colour(tint) } })),
    say: (i) => (data.ok[i] === null ? [text("gap")] : parts.map(([name, key]) => `${name} ${number.format(data[key][i])}`)),
  };
}

const kinds = { success, times, volume };

function options({ series, yAxis, legend, say }, data) {
  const quiet = { color: colour("quiet"), fontFamily: "inherit" };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return {
    animation: !calm, animationDuration: 250, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
    grid: { left: 8, right: 12, top: legend ? 30 : 12, bottom: 4, containLabel: true },
    legend: legend ? { data: legend, left: 0, top: 0, icon: "roundRect", itemWidth: 12, itemHeight: 8, textStyle: quiet } : undefined,
    tooltip: {
      trigger: "axis", renderMode: "richText", confine: true, backgroundColor: colour("card"), borderColor: colour("line"), textStyle: { color: colour("ink"), fontSize: 12 },
      formatter: (shown) => [moment(data, data.starts[shown[0].dataIndex]), ...say(shown[0].dataIndex)].join("\n"),
    },
    xAxis: { type: "category", data: data.starts.map((at) => label(data, at)), axisLine: { lineStyle: { color: colour("line") } }, axisTick: { show: false }, axisLabel: { ...quiet, hideOverlap: true, alignMaxLabel: "right" } },
    yAxis: { type: "value", splitLine: { lineStyle: { color: colour("line-soft") } }, ...yAxis, axisLabel: { ...quiet, ...yAxis.axisLabel } },
    series,
  };
}

const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => drawn.get(target)?.resize()));

function draw(place) {
  const source = document.getElementById(place.dataset.from);
  if (!source) return;
  const data = JSON.parse(source.dataset.figures);
  texts = JSON.parse(source.dataset.words);
  let chart = drawn.get(place);
  if (!chart) {
    place.classList.add("drawn");
    chart = init(place);
    drawn.set(place, chart);
    watch.observe(place);
    // A click looks closer at that time, as the link in the table's row does.
    chart.getZr().on("click", (event) => {
      const { links } = place.figures;
      const [at] = chart.convertFromPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY]);
      if (links[at]) location.assign(links[at]);
    });
  }
  place.figures = data;
  const made = kinds[place.dataset.chart](data);
  const note = place.parentElement.querySelector("[data-cut]");
  if (note) note.textContent = made.cut;
  chart.setOption(options(made, data), { notMerge: true });
}

function drawAll() {
  for (const [place, chart] of drawn) {
    if (!place.isConnected) {
      chart.dispose();
      watch.unobserve(place);
      drawn.delete(place);
    }
  }
  document.querySelectorAll("[data-chart]").forEach(draw);
}

drawAll();
document.addEventListener("htmx:afterSettle", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
