// Charts from the figures next to them in the page; the table under them says the same.
// Canvas and rich-text tooltips only: neither writes a style attribute, so the strict policy holds.
import { BarChart, LineChart } from "echarts/charts";
import { AxisPointerComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { connect, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, LineChart, AxisPointerComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const drawn = new Map();
// Days before months, 24 hours and the digits of the page's region, as the service writes them (console.js).
const locale = document.documentElement.lang.startsWith("en") ? "en-GB" : document.documentElement.lang;
const number = new Intl.NumberFormat(document.documentElement.lang);
const timeZone = document.querySelector('meta[name="time-zone"]')?.content; // empty: the browser's
const word = (at, options) => new Intl.DateTimeFormat(locale, { timeZone, hourCycle: "h23", ...options }).format(new Date(at));
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// Texts are those of the page, in its language: {name} is the place of a value.
let texts = {};
const text = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
// What is at an axis is round: 9 s next to 12 s, not 9,000 ms. Its foot is 0, whatever the unit.
// One unit for all labels of an axis: from one second on, tenths of seconds say enough.
const milliseconds = (v) => (v >= 1000
  ? text("seconds", { seconds: number.format(Math.round(v / 100) / 10) })
  : text("milliseconds", { milliseconds: number.format(v) }));

// The difference of the reader's zone to UTC at a time.
const parts = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" });
function offset(at) {
  const of = Object.fromEntries(parts.formatToParts(new Date(at)).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(of.year, of.month - 1, of.day, of.hour, of.minute) - Math.floor(at / MINUTE) * MINUTE;
}

// Whole hours and days of the reader's zone, at most so many.
const STEPS = [10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];
function ticks({ begins, ends }, most) {
  const step = STEPS.find((one) => (ends - begins) / one <= most) ?? STEPS.at(-1);
  const found = [];
  for (let local = Math.ceil((begins + offset(begins)) / step) * step; ; local += step) {
    const at = local - offset(local - offset(begins));
    if (at > ends) return found;
    found.push(at);
  }
}

// A day is named where it begins; its hours need no name.
const isMidnight = (at) => (at + offset(at)) % DAY === 0;
const tick = (at) => (isMidnight(at) ? word(at, { day: "numeric", month: "short" }) : word(at, { hour: "2-digit", minute: "2-digit" }));

function moment(data, at) {
  const day = { day: "numeric", month: "short" };
  if (data.step >= 86400) return text("dayOfUtc", { day: word(at, { ...day, timeZone: "UTC" }) });
  const hour = { hour: "2-digit", minute: "2-digit" };
  return `${word(at, { ...day, ...hour })} – ${word(at + data.step * 1000, hour)}`;
}

// A value is drawn in the middle of its step.
const centre = (data, at) => at + data.step * 500;
const points = (data, values) => values.map((value, i) => [centre(data, data.starts[i]), value]);
// The time of the axis: whole steps, so that one that began before it or is not over is inside.
const span = ({ begins, ends, starts, step }) => (starts.length
  ? { begins: Math.min(begins, starts[0]), ends: Math.max(ends, starts.at(-1) + step * 1000) }
  : { begins, ends });
// What begins before the picture or ends after it is not whole: it looks like less traffic.
const isPart = (data, i) => data.starts[i] < data.begins || data.starts[i] + data.step * 1000 > data.ends;

// Steps that are bad by the calls that are drawn, each run as one area.
function shades(data, places, tint, opacity) {
  const runs = [];
  for (const i of places) {
    const last = runs.at(-1);
    if (last && last[1] === i - 1) last[1] = i;
    else runs.push([i, i]);
  }
  const itemStyle = { color: colour(tint), opacity };
  return runs.map(([from, to]) => [{ xAxis: data.starts[from], itemStyle }, { xAxis: data.starts[to] + data.step * 1000 }]);
}

// In red what is bad, pale what is bad by an incident elsewhere.
function bad(data) {
  const areas = [...shades(data, data.bad, "down", Number(colour("shaded"))), ...shades(data, data.elsewhere ?? [], "none", 0.2)];
  return { markArea: { silent: true, data: areas } };
}

// A point without neighbors has no line, so it is drawn in any case.
const isAlone = (values, i) => (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null;
const line = (data, name, values, tint, more = {}) => ({
  name, type: "line", data: points(data, values), symbol: "circle", showSymbol: true,
  symbolSize: (_, { dataIndex }) => (isAlone(values, dataIndex) ? 7 : values.length < 30 ? 4 : 0),
  lineStyle: { width: 2, color: tint }, itemStyle: { color: tint }, connectNulls: false, ...more,
});

// The axis of success begins at a round value below all that is drawn; the caption says which.
function floor(values) {
  const least = Math.min(...values.filter((v) => v !== null), 96);
  return least >= 94 ? [94, 2] : least >= 90 ? [90, 5] : least >= 50 ? [50, 10] : [0, 25];
}

const target = () => ({ yAxis: 95, lineStyle: { color: colour("quiet"), type: "dashed", width: 1 } });
const mark = (at) => ({ xAxis: at, lineStyle: { color: colour("aa"), type: "dotted", width: 1.5 } });

function success(data) {
  const before = data.before ?? [];
  const usual = data.usual ?? [];
  const [min, interval] = floor([...data.success, ...before, ...usual]);
  const drawn = [line(data, text("success"), data.success, colour("accent"), {
    ...bad(data),
    z: 3,
    markLine: { silent: true, symbol: "none", label: { show: false }, data: [target(), ...(data.marks ?? []).map(([at]) => mark(at))] },
  })];
  if (before.length) drawn.unshift(line(data, text("lastWeek"), before, colour("none"), { showSymbol: false, lineStyle: { width: 2, color: colour("quiet"), opacity: 0.5 } }));
  if (usual.length) drawn.unshift(line(data, text("usual"), usual, colour("none"), { showSymbol: false, lineStyle: { width: 1.5, type: "dotted", color: colour("quiet") } }));
  const compared = [["lastWeek", before], ["usual", usual]].filter(([, values]) => values.length);
  const share = (v) => (v === null ? text("gap") : text("succeeded", { share: number.format(v) }));
  return {
    cut: min > 0 ? text("cut", { min }) : "",
    legend: compared.length ? [text("success"), ...compared.map(([name]) => text(name))] : undefined,
    yAxis: { min, max: 100, interval, axisLabel: { formatter: "{value} %" } },
    series: drawn,
    say: (i) => [
      share(data.success[i]),
      ...compared.filter(([, values]) => values[i] !== null).map(([name, values]) => `${text(name)}: ${number.format(values[i])} %`),
      ...(data.marks ?? []).filter(([at]) => at >= data.starts[i] && at < data.starts[i] + data.step * 1000).map(([, what]) => what),
    ],
  };
}

function times(data) {
  const said = (name, v) => (v === null ? [] : [text("about", { name, time: milliseconds(v) })]);
  return {
    legend: ["p50", "p95"],
    yAxis: { min: 0, axisLabel: { formatter: (v) => (v === 0 ? "0" : milliseconds(v)) } },
    series: [
      line(data, "p50", data.p50, colour("accent"), bad(data)),
      line(data, "p95", data.p95, colour("aa"), { lineStyle: { width: 2, type: "dashed", color: colour("aa") } }),
    ],
    say: (i) => (data.p50[i] === null ? [text("noAnswers")] : [...said("p50", data.p50[i]), ...said("p95", data.p95[i])]),
  };
}

const HATCHED = { symbol: "rect", symbolSize: 1, dashArrayX: [1, 0], dashArrayY: [2, 3], rotation: -Math.PI / 4 };

function volume(data) {
  const parts = [["OK", "ok", "ok"], ["4xx", "client", "none"], ["5xx", "server", "down"], [text("noAnswer"), "unanswered", "partly"]];
  return {
    legend: parts.map(([name]) => name),
    yAxis: { min: 0, axisLabel: { formatter: (v) => number.format(v) } },
    series: parts.map(([name, key, tint], place) => ({ ...(place ? {} : bad(data)), name, type: "bar", stack: "all", barMaxWidth: 22, itemStyle: { color: colour(tint) }, data: points(data, data[key]).map((value, i) => (isPart(data, i) ? { value, itemStyle: { opacity: 0.55, decal: { ...HATCHED, color: colour("card") } } } : value)) })),
    say: (i) => (data.ok[i] === null ? [text("gap")] : [...(isPart(data, i) ? [text("unfinished")] : []), ...parts.map(([name, key]) => `${name} ${number.format(data[key][i])}`)]),
  };
}

const kinds = { success, times, volume };

// Charts under each other have one left edge: that of the widest label, which is a number of calls.
// The library would move an edge for a wide label, and the ends of the axis for half a bar.
const ROOM = 56;
// Names of lanes are left of them, where that leaves most of the width to the picture.
const NAMES = 176;
const WIDE = 640;
const edge = ({ ok = [], client = [], server = [], unanswered = [] }) => {
  const most = Math.max(0, ...ok.map((calls, i) => calls + (client[i] ?? 0) + (server[i] ?? 0) + (unanswered[i] ?? 0)));
  return Math.max(ROOM, 16 + 8 * number.format(Math.round(most)).length);
};

function options({ series, yAxis, legend, say }, data, width, left) {
  const quiet = { color: colour("quiet"), fontFamily: "inherit" };
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const axis = span(data);
  const at = ticks(axis, Math.max(2, width / 68));
  return {
    animation: !calm, animationDuration: 250, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
    grid: { left, right: 20, top: legend ? 30 : 12, bottom: 24, containLabel: false, outerBoundsMode: "none" },
    legend: legend ? { data: legend, left: 0, top: 0, icon: "roundRect", itemWidth: 12, itemHeight: 8, textStyle: quiet } : undefined,
    tooltip: {
      trigger: "axis", renderMode: "richText", confine: true, backgroundColor: colour("card"), borderColor: colour("line"), textStyle: { color: colour("ink"), fontSize: 12 },
      axisPointer: { type: "line", lineStyle: { color: colour("quiet"), width: 1 }, label: { show: false } },
      formatter: (shown) => [moment(data, data.starts[shown[0].dataIndex]), ...say(shown[0].dataIndex)].join("\n"),
    },
    xAxis: {
      type: "time", min: axis.begins, max: axis.ends, containShape: false, axisLine: { lineStyle: { color: colour("line") } },
      axisTick: { show: true, customValues: at, lineStyle: { color: colour("line") } },
      axisLabel: { ...quiet, customValues: at, hideOverlap: true, formatter: tick },
      splitLine: { show: false },
    },
    yAxis: { type: "value", splitNumber: 4, splitLine: { lineStyle: { color: colour("line-soft") } }, ...yAxis, axisLabel: { ...quiet, ...yAxis.axisLabel } },
    series,
  };
}

const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => {
  const chart = drawn.get(target);
  if (!chart || !target.isConnected) return; // a renewed page has another in its place
  chart.resize();
  show(target, chart);
}));

const time = (place, event) => drawn.get(place).convertFromPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY])[0];
const written = (at) => new Date(at).toISOString().replace(/\.\d+/, "");

// Dragged across a chart, the page shows that time; a click looks closer, as the link in the table's row does.
function reads(place, chart) {
  const frame = document.createElement("div");
  frame.className = "dragged";
  frame.hidden = true;
  place.append(frame);
  let from = null;
  chart.getZr().on("mousedown", (event) => { from = event.offsetX; });
  chart.getZr().on("mousemove", (event) => {
    if (from === null || !place.figures.zooms) return;
    frame.hidden = Math.abs(event.offsetX - from) < 6;
    frame.style.left = `${Math.min(from, event.offsetX)}px`;
    frame.style.width = `${Math.abs(event.offsetX - from)}px`;
  });
  chart.getZr().on("globalout", () => { from = null; frame.hidden = true; });
  chart.getZr().on("mouseup", (event) => {
    const { starts, step, links, begins, ends, zooms } = place.figures;
    const dragged = from !== null && !frame.hidden;
    const [a, b] = [from, event.offsetX].sort((x, y) => x - y).map((x) => time(place, { offsetX: x, offsetY: event.offsetY }));
    from = null;
    frame.hidden = true;
    if (dragged && zooms) {
      const query = new URLSearchParams(location.search);
      query.delete("range");
      const whole = 10 * MINUTE;
      const first = Math.max(begins, Math.floor(a / whole) * whole);
      query.set("from", written(first));
      query.set("to", written(Math.min(ends, Math.max(first + whole, Math.ceil(b / whole) * whole))));
      location.search = query;
      return;
    }
    const at = starts.findLastIndex((start) => start <= b && b < start + step * 1000);
    if (links[at]) location.assign(links[at]);
  });
}

function download(place, href, type) {
  const link = document.createElement("a");
  link.href = href;
  link.download = `${document.title} ${place.dataset.chart}.${type}`.replace(/[^\p{L}\p{N}. -]+/gu, " ");
  link.click();
}

// The picture with its title: in an email no page says what it is.
function picture(place, chart) {
  const title = { text: `${document.title}: ${captionOf(place)}`, left: 8, top: 4, textStyle: { fontSize: 13, color: colour("ink") } };
  const { legend } = chart.getOption();
  chart.setOption({ animation: false, title, grid: { top: legend?.length ? 52 : 34 }, legend: legend?.length ? { top: 22 } : undefined });
  const href = chart.getDataURL({ pixelRatio: 2, backgroundColor: colour("card") });
  show(place, chart);
  download(place, href, "png");
}

// What is drawn, a line for each step.
function csv(place) {
  const { starts, step } = place.figures;
  const series = { success: ["success", "before", "usual"], times: ["p50", "p95"], volume: ["ok", "client", "server", "unanswered"] };
  const names = series[place.dataset.chart].filter((name) => place.figures[name]?.length);
  const lines = starts.map((at, i) => [written(at), written(at + step * 1000), ...names.map((name) => place.figures[name][i] ?? "")].join(","));
  return `data:text/csv;charset=utf-8,${encodeURIComponent([["from", "to", ...names].join(","), ...lines, ""].join("\r\n"))}`;
}

// The address of this very time and chart, however the page moves on.
function linkTo(place) {
  const address = new URL(location.href);
  if (place.figures.zooms) {
    address.searchParams.delete("range");
    address.searchParams.set("from", written(place.figures.begins));
    address.searchParams.set("to", written(place.figures.ends));
  }
  address.hash = place.id;
  return address.href;
}

const captionOf = (place) => place.parentElement.querySelector("figcaption").firstChild.textContent.trim();

function offers(place, chart) {
  const caption = place.parentElement.querySelector("figcaption");
  place.id ||= `chart-${place.dataset.chart}`;
  const acts = {
    PNG: () => picture(place, chart),
    CSV: () => download(place, csv(place), "csv"),
    [text("link")]: async ({ target }) => {
      await navigator.clipboard.writeText(linkTo(place)).catch(() => {});
      target.textContent = text("copied");
      setTimeout(() => { target.textContent = text("link"); }, 2000);
    },
  };
  const takes = Object.assign(document.createElement("span"), { className: "takes" });
  caption.append(" ", takes);
  for (const [name, act] of Object.entries(acts)) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "plain small", textContent: name });
    button.setAttribute("aria-label", `${name}: ${captionOf(place)}`);
    button.addEventListener("click", act);
    takes.append(button);
  }
}

function show(place, chart) {
  const made = kinds[place.dataset.chart](place.figures);
  const note = place.parentElement.querySelector("[data-cut]");
  if (note) note.textContent = made.cut;
  // What is drawn under a chart over the same time has its edges.
  const lanes = place.closest("figure").parentElement.querySelector(":scope > .lanes");
  const inFront = Boolean(lanes) && place.clientWidth >= WIDE;
  const counts = document.querySelector("[data-chart=volume]");
  const left = inFront ? NAMES : counts ? edge(place.figures) : ROOM;
  chart.setOption(options(made, place.figures, place.clientWidth, left), { notMerge: true });
  if (!lanes) return;
  const [from, to] = [place.figures.begins, place.figures.ends].map((at) => chart.convertToPixel({ xAxisIndex: 0 }, at));
  lanes.classList.toggle("in-front", inFront);
  lanes.style.gridTemplateColumns = inFront ? `${from}px ${to - from}px` : "";
  for (const lane of lanes.querySelectorAll("svg")) Object.assign(lane.style, { marginLeft: inFront ? "0" : `${from}px`, width: `${to - from}px` });
  for (const name of lanes.querySelectorAll("a")) name.style.marginLeft = inFront ? "0" : `${from}px`;
}

function draw(place) {
  const source = document.getElementById(place.dataset.from);
  if (!source) return;
  place.figures = JSON.parse(source.dataset.figures);
  texts = JSON.parse(source.dataset.words);
  let chart = drawn.get(place);
  if (!chart) {
    place.classList.add("drawn");
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", place.parentElement.querySelector("figcaption").textContent.trim());
    place.setAttribute("aria-describedby", "moments");
    chart = init(place);
    chart.group = "page";
    drawn.set(place, chart);
    reads(place, chart);
    offers(place, chart);
    watch.observe(place);
  }
  show(place, chart);
}

connect("page"); // one crosshair over the charts of a page

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
document.addEventListener("mudra:theme", () => requestAnimationFrame(drawAll));
