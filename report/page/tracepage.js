"use strict";
// The part of the page for traces: the capture's summary, the chart, and texts on chosen, found and visible events.

const bytesText = bytes => scaled(bytes, "B");
const rateText = (bytes, ns) => ns > 0 ? scaled(bytes / ns * 1e9, "B/s") : missing;

// The facts of an event, one a row.
function factsOf(trace, item) {
  const {level, i} = item, what = level.what[i], w = trace.whats[what], kind = kindOf(trace, what), [name] = namesOf(trace, what);
  const length = level.end[i] - level.start[i], laneOf = trace.lanes[item.lane], many = level.count[i] > 1;
  const rows = [["Where", `${laneOf.title}, ${trace.groups[laneOf.group].title}`], ["Began", `${formatTime(level.start[i])} (${count(level.start[i])} ns) after the first event`], ["Took", `${formatTime(length)} (${count(length)} ns)`]];
  if (many) {
    rows.unshift(["Events", `${count(level.count[i])}, drawn as one: ${formatTime(level.busy[i])} in them (${percent(level.busy[i] / (length || 1))}); the name above takes most of it`]);
    return rows;
  }
  if (w.shape) {
    const [gx, gy, gz, bx, by, bz, registers, fixed, dynamic] = w.shape;
    const shared = [[fixed, "static"], [dynamic, "dynamic"]].filter(([bytes]) => bytes !== null);
    if (gx || bx) rows.push(["Grid × block", [[gx, gy, gz], [bx, by, bz]].map(xyz => xyz[0] ? size(xyz) : missing).join(" × ")]);
    if (registers) rows.push(["Registers a thread", count(registers)]);
    if (shared.length) rows.push(["Shared memory a block", shared.map(([bytes, word]) => `${bytesText(bytes)} ${word}`).join(", ")]);
  }
  if ((kind === "copy" || kind === "memset") && level.value[i] >= 0) rows.push(["Bytes", `${count(level.value[i])}, ${rateText(level.value[i], length)}`]);
  if (w.note !== undefined) rows.push(["Memory", trace.names[w.note]]);
  if (w.domain) rows.push(["Domain", trace.names[w.domain]]);
  if (w.result) rows.push(["Returned", w.result === 600 ? "not done yet" : `error ${w.result}`]);
  if (kind === "kernel" && level.value[i] >= 0) rows.push(["CUDA graph", count(level.value[i])]);
  if (w.count > 1) rows.push(["All like it", `${count(w.count)}, ${formatTime(w.time)}`]);
  const known = kind === "kernel" && kernels.find(k => k.name === name || k.function === name);
  if (known) rows.push(["Counted", make("a", {href: `#kernel=${known.index}`}, "its metrics on this page")]);
  return rows;
}

// The call that launched the event, and the NVTX ranges around this call; for a call, the events that it launched.
function pathFacts(chart, item) {
  const {trace} = chart, {level, i} = item, kind = trace.lanes[item.lane].kind, rows = [];
  const jump = (to, text) => make("button", {type: "button", class: "value", onclick: () => chart.choose(to, true)}, text);
  const path = (group, time) => { const list = rangesAt(trace, group, time); if (list.length) rows.push(["NVTX", list.join(" / ")]); };
  if (kind === "gpu") {
    const call = callOf(trace, item), began = level.start[i] - level.wait[i];
    if (level.cause[i] < 0) { if (level.count[i] === 1) rows.push(["Launched by", "no recorded call"]); return rows; }
    const group = trace.lanes[level.cause[i]].group;
    rows.push(["Launched by", make("span", {}, call ? jump(call, labelOf(trace, call.level.what[call.i])) : "a call", ` on ${trace.groups[group].title}, ${formatTime(level.wait[i])} before it began`)]);
    path(group, began);
  } else if (kind === "calls") {
    const made = launchedBy(trace, item, 100);
    if (made.length) rows.push(["Launched", make("span", {}, made.slice(0, 5).flatMap((to, n) => [n ? ", " : "", jump(to, labelOf(trace, to.level.what[to.i]))]), made.length > 5 ? ` and ${made.length === 100 ? "95 or more others" : plural(made.length - 5, "other")}` : "")]);
    path(trace.lanes[item.lane].group, level.start[i]);
  }
  return rows;
}

function underText(chart, {row, time, events, item}) {
  if (!row || time === undefined) return "";
  if (row.kind === "series") {
    const {block, series} = row.series, text = sampleText(block, series, time - block.start);
    return text ? `${series.name} at ${formatTime(time)}: ${text}` : "";
  }
  if (!item) return "";
  const {level, i} = item, what = level.what[i], [name] = namesOf(chart.trace, what);
  return `${level.count[i] > 1 ? `${count(level.count[i])} events, most of the time ` : ""}${name || labelOf(chart.trace, what)}: ${formatTime(level.end[i] - level.start[i])} from ${formatTime(level.start[i])}` +
    (level.cause[i] >= 0 && level.count[i] === 1 ? `, ${formatTime(level.wait[i])} after its call` : "") + (events > level.count[i] ? ` (and ${plural(events - level.count[i], "more event")} in this pixel)` : "");
}

function chosenPanel(chart) {
  const {trace, chosen} = chart;
  if (!chosen) return [make("h4", {}, "Event"), make("p", {class: "quiet"}, "A click on the chart chooses one.")];
  const what = chosen.level.what[chosen.i], [name] = namesOf(trace, what), rows = [...factsOf(trace, chosen), ...pathFacts(chart, chosen)];
  return [make("h4", {}, `${kindWords[kindOf(trace, what)] || kindOf(trace, what)}`), make("p", {class: "name"}, breakable(name || labelOf(trace, what))),
    make("table", {class: "parts"}, make("tbody", {}, rows.map(([title, value]) => make("tr", {}, make("th", {scope: "row"}, title), make("td", {class: "any"}, value)))))];
}

// Sums of the visible or the marked span.
function spanPanel(chart) {
  const {trace} = chart, [from, to] = chart.shown(), length = to - from || 1;
  const gpu = sumsIn(trace, ["gpu"], from, to), calls = sumsIn(trace, ["calls"], from, to), greatest = gpu.list.length ? gpu.list[0].time : 1;
  const devices = trace.groups.map((group, g) => ({group, g})).filter(({group}) => group.device !== undefined);
  const row = (sum, whole, most) => make("tr", {}, make("td", {class: "number"}, formatTime(sum.time)), make("td", {class: "number"}, shareCell(sum.time / whole, most / whole)), make("td", {class: "number"}, count(sum.count)),
    make("td", {class: "any", title: namesOf(trace, sum.what)[0]}, breakable(labelOf(trace, sum.what)), sum.bytes && kindOf(trace, sum.what) === "copy" ? make("small", {class: "whole"}, ` ${bytesText(sum.bytes)}, ${rateText(sum.bytes, sum.time)}`) : null));
  const table = (title, list, most) => list.length ? make("table", {class: "sums"}, make("caption", {}, title), make("tbody", {}, list.slice(0, most).map(sum => row(sum, length, list[0].time || greatest)))) : null;
  return [make("h4", {}, chart.span ? "Marked span" : "Visible span"), make("p", {}, `${formatTime(length)} from ${formatTime(from)}. `,
    devices.map(({group, g}) => make("span", {class: "key"}, `${group.title}: busy ${percent(busyIn(trace, g, from, to) / length)} `))),
  table("On the GPU, by time", gpu.list, 8), table("Calls, by time", calls.list, 5),
  gpu.grouped ? make("p", {class: "quiet"}, `${count(gpu.grouped)} events here are drawn with their neighbours, under the name with most time: zoom does not separate them.`) : null].filter(Boolean);
}

// ---- search ----------------------------------------------------------------------------------------------------------------

// The next found event in order of time, then of place, from the chosen event or from the visible span.
function findItem(chart, by) {
  const {trace, found, chosen} = chart, from = chosen ? chosen.level.start[chosen.i] : chart.shown()[0];
  const order = (a, b) => by * (a.level.start[a.i] - b.level.start[b.i] || a.lane - b.lane || a.depth - b.depth || a.i - b.i);
  let best = null;
  trace.lanes.forEach((l, index) => levelsOf(l).forEach((level, depth) => {
    for (let i = by > 0 ? d3.bisectLeft(level.start, from) : d3.bisectRight(level.start, from) - 1; i >= 0 && i < level.length; i += by) {
      const item = {lane: index, level, depth, i};
      if (!found[level.what[i]] || (chosen && order(item, chosen) <= 0)) continue;
      if (!best || order(item, best) < 0) best = item;
      return;
    }
  }));
  return best;
}

function searchTools(chart) {
  const {trace} = chart, said = make("span", {class: "quiet", role: "status"});
  const step = by => { const item = chart.found && findItem(chart, by); if (item) chart.choose(item, true); };
  const buttons = [["‹", "Previous found event", -1], ["›", "Next found event", 1]].map(([text, label, by]) => make("button", {type: "button", "aria-label": label, title: label, onclick: () => step(by)}, text));
  const texts = trace.whats.map((w, i) => `${namesOf(trace, i)[0]} ${labelOf(trace, i)} ${kindWords[kindOf(trace, i)] || ""}`.toLowerCase());
  chart.search = text => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    chart.found = words.length ? Uint8Array.from(texts, t => words.every(w => t.includes(w))) : null;
    const list = chart.found ? trace.whats.filter((_, i) => chart.found[i]) : [];
    said.textContent = chart.found ? ` ${plural(d3.sum(list, w => w.count), "event")} of ${plural(list.length, "name")}, ${formatTime(d3.sum(list, w => w.time))}` : "";
    chart.draw();
  };
  chart.input = make("input", {type: "search", placeholder: "Search events", "aria-label": "Search events", oninput: e => chart.search(e.target.value),
    onkeydown: e => { if (e.key === "Enter") step(e.shiftKey ? -1 : 1); }});
  return make("p", {class: "tools find"}, chart.input, buttons, said);
}

// ---- the part ----------------------------------------------------------------------------------------------------------------

function traceNotes(trace) {
  const list = [];
  if (trace.resolution) list.push(`The trace has ${plural(trace.events, "event")} with a time, too many for a page. Events shorter than ${formatTime(trace.resolution)} are drawn together with their neighbours within that time: ${count(trace.grouped)} events as ${count(trace.items - (trace.events - trace.grouped))}. "metric-eval export --perfetto" writes all events.`);
  else list.push(`The page has all ${plural(trace.events, "event")} with a time.`);
  if (trace.untimed) list.push(`${plural(trace.untimed, "event")} without a time ${trace.untimed === 1 ? "is" : "are"} in no lane.`);
  if (trace.lanes_left) list.push(`${plural(trace.lanes_left, "lane")} with the fewest events ${trace.lanes_left === 1 ? "is" : "are"} left out.`);
  if (trace.names_left) list.push(`${plural(trace.names_left, "name")} with the least time ${trace.names_left === 1 ? "has" : "have"} no text here.`);
  return list.map(text => make("p", {class: "quiet"}, text));
}

// Choices of visible groups of lanes and series.
function laneChoices(chart) {
  const {trace} = chart, box = (title, checked, change) => make("label", {title}, make("input", {type: "checkbox", checked, onchange: e => { change(e.target.checked); chart.draw(); }}), " ", title);
  const groups = trace.groups.map((group, g) => box(group.title, chart.open.has(g), on => { if (on) chart.open.add(g); else chart.open.delete(g); }));
  const series = chart.series.map(s => box(`${s.series.name}, ${trace.groups[s.group].title}`, s.shown, on => { s.shown = on; }));
  return make("details", {class: "tools"}, make("summary", {}, "Lanes to show"), make("div", {class: "choices"}, groups, series));
}

function traceKey() {
  const mark = (ink, text) => { const box = make("span", {class: "swatch"}); box.style.background = ink; return make("span", {class: "key"}, box, " ", text); };
  return make("p", {class: "quiet keys"}, "Kernels have the colour of their family. Copies and memsets are striped. Calls: ", mark("var(--c1)", "launch"), mark("var(--c2)", "waits"), mark("var(--c3)", "copy"), mark("var(--c4)", "memory"), mark("var(--quiet)", "other"),
    "If events are narrower than a pixel, the height of a column is the share of its time with events.");
}

// ---- summary ---------------------------------------------------------------------------------------------------------------------

// Texts of the terminal, which has no "µ".
const micro = text => text.replace(/(\d) us\b/g, "$1 µs");

// A table of the terminal, in its order until a click on a heading sorts it. Cells are a text and a number; the last cell
// of a row is a name, for kernels also the short one. open(row): the part of the page about the row.
function traceTable({title, columns, rows, left, note}, open) {
  const last = columns.length - 1, heading = text => text[0].toUpperCase() + text.slice(1);
  const column = (name, i) => {
    const greatest = d3.max(rows, row => row[i][1]), by = greatest === undefined ? 0 : 1, text = row => micro(row[i][0]);
    const cell = name === "share" ? row => make("span", {class: "with-bar"}, bar(row[i][1] / greatest), make("span", {}, text(row)))
      : open && !i ? row => make("a", {href: `#${open(row)}`}, text(row)) : text;
    return {title: heading(name), number: by > 0, value: row => row[i][by], cell};
  };
  const name = {title: heading(columns[last]), wide: true, value: row => row[last][0], cell: row => make("span", {title: row[last][0]}, breakable(row[last][1] || row[last][0] || "(none)"))};
  return make("div", {class: "words"}, sortableTable({label: title, rows, search: rows.length > 10, first: open ? 5 : 10, sorted: -1, columns: [...columns.slice(0, last).map(column), name]}),
    [left && rows.length > 10 ? `the page has ${count(rows.length)}, ${left}` : left, note].filter(Boolean).map(text => make("p", {class: "quiet"}, micro(text))));
}

// Busy time of the GPUs, causes of idle time, and the longest gaps.
function traceUsage(trace) {
  const {usage} = trace.summary;
  if (!usage.length) return [make("p", {}, "Nothing ran on a GPU at a known time.")];
  return usage.map(table => {
    const title = micro(table.title) || "How busy the GPUs were", at = table.columns.indexOf("at"), idle = table.columns.indexOf("idle");
    const show = row => `timeline=${traces.indexOf(trace)}/${Math.round(Math.max(0, row[at][1] - row[idle][1] * 0.2))},${Math.round(row[at][1] + row[idle][1] * 1.2)}`;
    return make("div", {}, make("h4", {}, title), traceTable({...table, title}, at < 0 ? null : show));
  });
}

const traceSummary = trace => make("div", {}, panel(`${trace.file}: a trace`, make("div", {}, make("p", {}, `${formatTime(trace.span)}, ${plural(trace.events, "event")}. ${trace.summary.lost} `, make("a", {href: "#timeline"}, "The timeline")),
  make("div", {class: "usage"}, traceUsage(trace)))), trace.summary.lists.map(table => panel(micro(table.title), traceTable(table))));

// "FROM,TO" in ns, and words to search for.
function goToSpan(trace, text) {
  const [, from, to, words] = /^([^,]*),([^,]*),?(.*)$/s.exec(text) || [];
  if (words) {
    trace.chart.input.value = words;
    trace.chart.search(words);
  }
  if (!(Number(to) > Number(from))) return;
  if (trace.chart.canvas.drawn) trace.chart.show(Number(from), Number(to));
  else trace.chart.wanted = [Number(from), Number(to)];
}

function drawTrace(trace) {
  const chosen = make("div", {class: "panel", "aria-live": "polite"}), shown = make("div", {class: "panel"});
  const chart = traceChart(trace, c => { chosen.classList.toggle("tools", !c.chosen); chosen.replaceChildren(...chosenPanel(c)); shown.replaceChildren(...spanPanel(c)); });
  trace.chart = chart;
  const button = (text, label, act) => make("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
  const tools = make("p", {class: "tools"}, button("+", "Zoom in", () => chart.by(1.6)), button("−", "Zoom out", () => chart.by(1 / 1.6)), button("All", "Show all", chart.all),
    busySpan(trace) ? make("span", {class: "quiet"}, ` opens on ${formatTime(busySpan(trace)[1] - busySpan(trace)[0])} of ${formatTime(trace.span)}, with nearly all work of the GPUs`) : null);
  const help = make("details", {class: "tools"}, make("summary", {}, "Mouse and keys"), make("p", {class: "quiet"}, "The wheel zooms; left of the lanes it scrolls. Drag moves, Shift and drag marks a span. A click chooses an event, a double click zooms to it; a click on a heading opens and closes its lanes. Keys, once the chart has the focus: arrows, or W, A, S and D, zoom and move; + and − zoom, Home shows all; N and P choose the next and the previous event of a row, J and K the row below and above; F zooms to the event, Escape lets go of it. In the search, Enter goes to the next found event."));
  const place = make("div", {class: "canvas"}, chart.canvas);
  new ResizeObserver(() => requestAnimationFrame(chart.resize)).observe(place);
  return make("section", {class: "timeline trace"}, make("h3", {}, trace.file), make("p", {}, trace.summary.lost), make("div", {class: "usage"}, traceUsage(trace)), make("div", {class: "bar-of-tools"}, tools, searchTools(chart)), laneChoices(chart), help, place, make("div", {class: "canvas"}, chart.axis.node()),
    make("div", {class: "columns"}, chosen, shown), traceKey(), traceNotes(trace));
}
