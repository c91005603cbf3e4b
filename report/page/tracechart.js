"use strict";
// The chart of a trace, its search, the chosen event, and sums of the visible span.

// A canvas with lanes. Calls `told` when the chosen event, the visible span or the marked span changes.
function traceChart(trace, told) {
  const canvas = make("canvas", {tabIndex: 0, role: "img", "aria-label": `Timeline of ${trace.file}. Arrow keys pan, plus and minus zoom, Home shows all; N and P choose the next and the previous event of a row, J and K the row below and above, F zooms to it, Escape lets go. The text beneath says what is chosen and what is shown.`});
  const axis = d3.create("svg").attr("class", "axis time");
  const open = new Set(trace.groups.map((g, i) => i).filter(i => trace.groups[i].listed).slice(0, 12));
  const series = trace.samples.flatMap(block => block.series.map((s, i) => ({block, series: s, group: block.group, shown: i < 3})));
  const x = d3.scaleLinear().domain([0, trace.span]);
  const chart = {canvas, trace, open, series, transform: d3.zoomIdentity, width: 900, chosen: null, span: null, found: null, rows: [], labels: [], wanted: busySpan(trace)};
  const zoom = d3.zoom().scaleExtent([1, Math.max(2, trace.span / 40)])
    .filter(() => !d3.event.button && !d3.event.shiftKey && (d3.event.type !== "wheel" || d3.event.offsetX >= lane.left))
    .on("zoom", () => { chart.transform = d3.event.transform; chart.draw(); tellLater(); });
  const view = () => {
    const scale = chart.transform.rescaleX(x.range([lane.left, chart.width])), [from, to] = [scale.invert(lane.left), scale.invert(chart.width)];
    return {left: lane.left, right: chart.width, from, to, scale, at: time => lane.left + (time - from) / (to - from) * (chart.width - lane.left)};
  };
  let timer = null;
  chart.timeAt = px => view().scale.invert(px);
  chart.told = () => told(chart);
  const tellLater = () => { clearTimeout(timer); timer = setTimeout(() => told(chart), 120); };

  chart.shown = () => { const {from, to} = view(); return chart.span || [Math.max(0, from), Math.min(trace.span, to)]; };

  // The place of an item on the canvas; null if its lane is hidden.
  const place = item => {
    const row = chart.rows.find(r => r.kind === "lane" && r.lane === item.lane), height = row && boxHeight(trace.lanes[item.lane].kind);
    return row ? {y: row.y + item.depth * (height + 1), height} : null;
  };

  function paintRow(p, row) {
    paintLabel(p, row, open);
    if (row.kind === "head") return;
    p.context.save();
    p.context.beginPath();
    p.context.rect(lane.left, row.y - 2, chart.width - lane.left, row.height + 4);
    p.context.clip();
    if (row.kind === "lane") {
      const height = boxHeight(trace.lanes[row.lane].kind);
      levelsOf(trace.lanes[row.lane]).forEach((level, depth) => paintLevel(p, level, row.y + depth * (height + 1), height));
    } else {
      const {block, series: s} = row.series, from = p.view.from - block.start, to = p.view.to - block.start;
      paintSeries(p.context, block, s, {left: lane.left, right: chart.width, from, to, top: row.y + 2, height: row.height - 3}, p.inks.palette[seriesColour(s)]);
    }
    p.context.restore();
  }

  chart.draw = () => {
    const context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1, made = rowsOf(trace, open, series);
    chart.rows = made.rows;
    canvas.width = chart.width * ratio;
    canvas.height = made.height * ratio;
    canvas.style.height = `${made.height}px`;
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    const p = {context, trace, view: view(), inks: inks(), stripes: stripes(context), found: chart.found, labels: [], cover: new Float32Array(Math.ceil(chart.width - lane.left + 1) * (palette.length + 2))};
    made.rows.forEach(row => paintRow(p, row));
    if (chart.span) {
      const [x1, x2] = chart.span.map(p.view.at);
      context.globalAlpha = 0.15;
      context.fillStyle = p.inks.accent;
      context.fillRect(Math.max(lane.left, x1), 0, Math.min(chart.width, x2) - Math.max(lane.left, x1), made.height);
      context.globalAlpha = 1;
    }
    if (chart.chosen) {
      const call = callOf(trace, chart.chosen), flows = call ? [[call, chart.chosen]]
        : trace.lanes[chart.chosen.lane].kind === "calls" ? launchedBy(trace, chart.chosen, 100).map(item => [chart.chosen, item]) : [];
      paintOutlines(p, flows.flat(), place, p.inks.accent, 1.5);
      paintOutlines(p, [chart.chosen], place, p.inks.ink, 2);
      paintFlows(p, flows, place);
    }
    axis.attr("width", chart.width).attr("height", 24).attr("viewBox", `0 0 ${chart.width} 24`).selectAll("*").remove();
    const ticks = p.view.scale.ticks(Math.max(3, chart.width / 180));
    axis.append("g").call(d3.axisBottom(p.view.scale).tickValues(ticks).tickFormat(t => tickText(t, ticks[1] - ticks[0], p.view.to)));
    chart.labels = p.labels;
  };

  // The item under a place, the longest if a pixel has several.
  chart.under = (px, py) => {
    const v = view(), row = chart.rows.find(r => py >= r.y && py < r.y + r.height);
    if (!row || px < lane.left) return {row};
    const time = v.scale.invert(px), end = v.scale.invert(px + 1);
    if (row.kind !== "lane") return {row, time};
    const depth = Math.floor((py - row.y) / (boxHeight(trace.lanes[row.lane].kind) + 1)), level = levelsOf(trace.lanes[row.lane])[depth];
    let best = -1, events = 0;
    for (const i of level ? itemsIn(level, time - (end - time), end) : []) {
      events += level.count[i];
      if (best < 0 || level.end[i] - level.start[i] > level.end[best] - level.start[best]) best = i;
    }
    return {row, time, events, item: best < 0 ? null : {lane: row.lane, level, depth, i: best}};
  };

  chart.show = (from, to) => {
    const scale = (chart.width - lane.left) / Math.max(1e-9, to - from), whole = (chart.width - lane.left) / trace.span;
    d3.select(canvas).call(zoom.transform, d3.zoomIdentity.translate(lane.left - lane.left * scale / whole - from * scale, 0).scale(scale / whole));
  };
  chart.by = factor => d3.select(canvas).call(zoom.scaleBy, factor);
  chart.all = () => { chart.span = null; d3.select(canvas).call(zoom.transform, d3.zoomIdentity); };
  chart.choose = (item, into) => {
    chart.chosen = item;
    const [from, to] = [view().from, view().to];
    if (item) open.add(trace.lanes[item.lane].group);
    if (item && into && (item.level.start[item.i] < from || item.level.start[item.i] > to)) {
      const middle = item.level.start[item.i];
      chart.show(middle - (to - from) / 2, middle + (to - from) / 2);
    } else {
      chart.draw();
    }
    told(chart);
  };
  chart.resize = () => {
    const now = Math.floor(canvas.parentElement ? canvas.parentElement.clientWidth : 0);
    if (!now || now === canvas.drawn) return;
    const {from, to} = view();
    chart.width = canvas.drawn = now;
    zoom.extent([[lane.left, 0], [now, 100]]).translateExtent([[lane.left, 0], [now, 100]]);
    chart.show(...(chart.wanted || [from, to]));
    chart.wanted = null;
    told(chart);
  };
  chart.axis = axis;
  chart.pan = share => d3.select(canvas).call(zoom.translateBy, share * (chart.width - lane.left) / chart.transform.k, 0);
  d3.select(canvas).call(zoom).on("dblclick.zoom", null);
  listenToChart(chart);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", chart.draw);
  return chart;
}

// The next item in the row of the chosen one, or the first visible item.
function stepItem(chart, by) {
  if (chart.chosen) {
    const {lane: index, level, depth, i} = chart.chosen;
    return level.length ? {lane: index, level, depth, i: Math.max(0, Math.min(level.length - 1, i + by))} : null;
  }
  return stepRow(chart, -1, 1);
}

// The item at the same time in the next row that has one.
function stepRow(chart, from, by) {
  const list = chart.rows.filter(r => r.kind === "lane").flatMap(r => levelsOf(chart.trace.lanes[r.lane]).map((level, depth) => ({lane: r.lane, level, depth})));
  const [start] = chart.shown(), time = chart.chosen ? chart.chosen.level.start[chart.chosen.i] : start;
  const next = list[(from < 0 ? -1 : from) + by];
  return next && next.level.length ? {...next, i: Math.min(next.level.length - 1, firstAfter(next.level, time))} : null;
}

function listenToChart(chart) {
  const {canvas, trace} = chart;
  const moves = {ArrowLeft: () => chart.pan(0.2), ArrowRight: () => chart.pan(-0.2), a: () => chart.pan(0.2), d: () => chart.pan(-0.2),
    "+": () => chart.by(1.6), "=": () => chart.by(1.6), "-": () => chart.by(1 / 1.6), ArrowUp: () => chart.by(1.6), ArrowDown: () => chart.by(1 / 1.6),
    w: () => chart.by(1.6), s: () => chart.by(1 / 1.6), Home: () => chart.all(), n: () => chart.choose(stepItem(chart, 1), true), p: () => chart.choose(stepItem(chart, -1), true),
    Escape: () => { chart.span = null; chart.choose(null); }, f: () => focusChosen(chart),
    j: () => row(1), k: () => row(-1)};
  function row(by) {
    const list = chart.rows.filter(r => r.kind === "lane").flatMap(r => levelsOf(trace.lanes[r.lane]).map((_, depth) => [r.lane, depth]));
    const item = stepRow(chart, chart.chosen ? list.findIndex(([l, depth]) => l === chart.chosen.lane && depth === chart.chosen.depth) : -1, by);
    if (item) chart.choose(item, true);
  }
  canvas.addEventListener("keydown", event => {
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    moves[event.key]();
    event.preventDefault();
  });
  canvas.addEventListener("mousemove", e => { canvas.title = underText(chart, chart.under(e.offsetX, e.offsetY)); });
  canvas.addEventListener("click", e => {
    const {row: at, item} = chart.under(e.offsetX, e.offsetY);
    if (e.shiftKey || !at) return;
    if (at.kind === "head") {
      if (!chart.open.delete(at.group)) chart.open.add(at.group);
      chart.draw();
    } else if (at.kind === "lane") {
      chart.choose(item);
    }
  });
  canvas.addEventListener("dblclick", () => focusChosen(chart));
  canvas.addEventListener("mousedown", event => {
    if (!event.shiftKey || event.button) return;
    const time = e => Math.max(0, Math.min(trace.span, chart.timeAt(e.clientX - canvas.getBoundingClientRect().left)));
    const from = time(event);
    const move = e => { const to = time(e); chart.span = from === to ? null : [Math.min(from, to), Math.max(from, to)]; chart.draw(); };
    const up = () => { window.removeEventListener("mousemove", move); window.removeEventListener("mouseup", up); chart.told(); };
    window.addEventListener("mousemove", move);
    window.addEventListener("mouseup", up);
    event.preventDefault();
  });
}

function focusChosen(chart) {
  if (!chart.chosen) return;
  const start = chart.chosen.level.start[chart.chosen.i], end = Math.max(start + 1, chart.chosen.level.end[chart.chosen.i]), call = callOf(chart.trace, chart.chosen);
  const from = call ? Math.min(start, call.level.start[call.i]) : start, rim = (end - from) * 0.3;
  chart.show(from - rim, end + rim);
}
