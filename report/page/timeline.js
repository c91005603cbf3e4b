"use strict";
// A timeline: samples over time, and launches and NVTX ranges beneath them, on one axis. Wheel and drag, or keys, zoom
// and pan. At any zoom a column of pixels shows its least and its greatest sample. For this, samples are kept as a
// pyramid: an entry of a level has the least and the greatest of two entries of the level below.

function decode(text, type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new type(bytes.buffer);
}

const absent = 65535;

// Levels of {least, greatest}; the first level has the samples themselves, or groups of them.
function pyramid(series, per) {
  if (series.levels) return series.levels;
  const values = decode(series.data, Uint16Array);
  let least = values, greatest = values;
  if (per > 1) {
    least = values.filter((_, i) => i % 2 === 0);
    greatest = values.filter((_, i) => i % 2 === 1);
  }
  series.levels = [{least, greatest}];
  while (least.length > 1) {
    const half = Math.ceil(least.length / 2), low = new Uint16Array(half), high = new Uint16Array(half);
    for (let i = 0; i < half; i++) {
      const a = 2 * i, b = Math.min(a + 1, least.length - 1);
      low[i] = Math.min(least[a], least[b]); // an absent sample is the greatest number
      high[i] = greatest[a] === absent ? greatest[b] : greatest[b] === absent ? greatest[a] : Math.max(greatest[a], greatest[b]);
    }
    series.levels.push({least: low, greatest: high});
    least = low;
    greatest = high;
  }
  return series.levels;
}

// The least and the greatest of entries from..to-1; null if all are absent.
function extent(levels, from, to) {
  let low = absent, high = -1, level = 0;
  const take = i => {
    const {least, greatest} = levels[level];
    if (least[i] === absent) return;
    low = Math.min(low, least[i]);
    if (greatest[i] !== absent) high = Math.max(high, greatest[i]);
  };
  while (from < to) {
    if (from & 1) take(from++);
    if (to & 1 && to > from) take(--to);
    if (from >= to) break;
    from >>= 1;
    to >>= 1;
    level++;
  }
  return high < 0 ? null : [low, high];
}

const unpack = (series, value) => series.low + (series.high - series.low) * value / (absent - 1);

// The gaps between intervals, which are in order of start.
function holesOf({start, length}, span) {
  const holes = [];
  let at = 0;
  start.forEach((from, i) => {
    if (from > at) holes.push({start: at, end: Math.min(from, span)});
    at = Math.max(at, from + length[i]);
  });
  if (span > at) holes.push({start: at, end: span});
  return holes.filter(hole => hole.end > hole.start);
}

// The hole around a time; holes are in order.
function holeAt(holes, time) {
  const hole = holes[d3.bisector(h => h.start).right(holes, time) - 1];
  return hole && time < hole.end ? hole : null;
}

// NVTX ranges: consecutive launches under the same path become one range; each depth has a lane.
function nvtxLanes(launches, paths) {
  const lanes = [];
  const open = [];
  launches.start.forEach((start, i) => {
    const path = (paths[i] || "").split("/").filter(Boolean), end = start + launches.length[i];
    while (open.length && (open.length > path.length || open.some((o, d) => o.name !== path[d]))) open.pop();
    path.forEach((name, depth) => {
      if (open[depth]) open[depth].end = Math.max(open[depth].end, end);
      else {
        open[depth] = {name, start, end};
        (lanes[depth] = lanes[depth] || []).push(open[depth]);
      }
    });
  });
  return lanes;
}

// Gives launches of PM sampling the NVTX ranges of the capture of ranges: the n-th launch of a kernel in one capture is
// its n-th in the other. Null if a kernel has different numbers of launches.
function nvtxOf(timeline, ranges) {
  if (!ranges || ranges.launches.left || timeline.launches.left || !ranges.launches.nvtx) return null;
  const byName = new Map();
  ranges.launches.name.forEach((n, i) => {
    const name = ranges.launches.names[n];
    if (!byName.has(name)) byName.set(name, []);
    byName.get(name).push(ranges.launches.nvtx_names[ranges.launches.nvtx[i]]);
  });
  const next = new Map();
  const paths = timeline.launches.name.map(n => {
    const name = timeline.launches.names[n], i = next.get(name) || 0;
    next.set(name, i + 1);
    return (byName.get(name) || [])[i];
  });
  return paths.some(p => p === undefined) ? null : paths;
}

const timelines = read("timelines");
const laneHeight = 64, rowHeight = 20, gutter = 8, marginLeft = 8, marginRight = 8;
const palette = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Thin slanted lines, as a pattern to fill with.
function stripes(context) {
  const tile = make("canvas", {width: 6, height: 6}), line = tile.getContext("2d");
  line.strokeStyle = colour("--line");
  [[-1, 1, 1, -1], [0, 6, 6, 0], [5, 7, 7, 5]].forEach(([x1, y1, x2, y2]) => { line.moveTo(x1, y1); line.lineTo(x2, y2); });
  line.stroke();
  return context.createPattern(tile, "repeat");
}

function textHash(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}

// ---- samples, on any canvas ----------------------------------------------------------------------------------------------

// Times of samples, 0 to 2^32 - 1 of their span, and the gaps between them.
function sampleTimes(block) {
  if (!block.times) block.times = block.series && block.series.length ? decode(block.time, Uint32Array) : new Uint32Array(0);
  return block.times;
}

function sampleGaps(block) {
  if (!block.holes) block.holes = block.gaps ? block.gaps.start.map((start, i) => ({start, end: start + block.gaps.length[i]})) : [];
  return block.holes;
}

const sampleIndex = (block, time) => d3.bisectLeft(sampleTimes(block), Math.max(0, Math.min(4294967295, time / block.span * 4294967295)));

// The least and the greatest number at a time, in words; null if there is none.
function sampleText(block, series, time) {
  if (time < 0 || time > block.span) return null;
  const i = Math.max(0, sampleIndex(block, time + 1e-9) - 1), found = extent(pyramid(series, block.per), i, i + 1);
  if (!found) return null;
  const [low, high] = found.map(v => format(unpack(series, v), series.unit));
  return low === high ? low : `${low} to ${high}`;
}

// The axis of a series has 0.
const reachOf = series => [Math.min(0, series.low), Math.max(0, series.high)];

// The ends of the axis in words; 0 at the bottom is not told.
function reachText(series) {
  const [least, greatest] = reachOf(series).map(value => value ? format(value, series.unit) : "0");
  return series.low < 0 ? `${least} to ${greatest}` : `up to ${greatest}`;
}

// Draws columns of pixels from their least to their greatest sample, and paler from there to 0. Times are the block's.
function paintSeries(context, block, series, {left, right, from, to, top, height}, ink) {
  const levels = pyramid(series, block.per), [base, full] = reachOf(series);
  const at = value => top + height * (1 - (value - base) / (full - base || 1)), width = right - left, times = sampleTimes(block), gaps = sampleGaps(block);
  const time = p => from + (to - from) * p / width;
  context.fillStyle = ink;
  for (let p = 0; p < width; p++) {
    if (time(p + 1) < 0 || time(p) > block.span) continue;
    let first = sampleIndex(block, time(p)), last = sampleIndex(block, time(p + 1));
    if (last === first && holeAt(gaps, time(p + 0.5))) continue;
    if (last === first) { first = Math.max(0, first - 1); last = first + 1; } // between two samples: the one before
    const found = extent(levels, first, Math.min(last, times.length));
    if (!found) continue;
    const [low, high] = found.map(value => at(unpack(series, value))), far = Math.min(high, at(0));
    context.globalAlpha = 0.35;
    context.fillRect(left + p, far, 1, Math.max(low, at(0)) - far);
    context.globalAlpha = 1;
    context.fillRect(left + p, high, 1, Math.max(1.5, low - high));
  }
}

// One timeline as an element. `ranges` is the timeline of the capture of ranges, or undefined.
function drawTimeline(timeline, ranges) {
  const launches = timeline.launches;
  const paths = launches.nvtx ? launches.nvtx.map(n => launches.nvtx_names[n]) : nvtxOf(timeline, ranges);
  const nvtx = paths ? nvtxLanes(launches, paths) : [];
  const places = [...new Set(launches.lane)].sort((a, b) => a - b), lanes = places.slice(0, 12);
  const gaps = sampleGaps(timeline);
  const idle = launches.start.length ? holesOf(launches, timeline.span) : [];
  const idleText = timeline.series ? launches.left || timeline.dropped ? "no recorded kernel" : "no kernel of the program" : "nothing counted";
  const all = (timeline.series || []).map((_, i) => i), varied = all.filter(i => timeline.series[i].high > timeline.series[i].low);
  const chosen = new Set((varied.length ? varied : all).slice(0, 5));
  const canvas = make("canvas", {tabIndex: 0, role: "img", "aria-label": "Timeline. Arrow keys pan, plus and minus zoom, Home shows all."});
  const axis = d3.create("svg").attr("class", "axis time");
  const said = make("p", {class: "quiet said", "aria-live": "polite"});
  let width = 900, transform = d3.zoomIdentity;
  const x = d3.scaleLinear().domain([0, timeline.span]);
  const zoom = d3.zoom().scaleExtent([1, Math.max(2, timeline.span / 50)]).on("zoom", () => { transform = d3.event.transform; draw(); });
  const shownSeries = () => [...chosen].sort((a, b) => a - b);
  const top = 4;
  const rows = () => [
    ...shownSeries().map(i => ({kind: "series", series: timeline.series[i], number: i, height: laneHeight})),
    ...lanes.map(lane => ({kind: "launches", lane, height: launches.start.length ? rowHeight : 0})).filter(r => r.height),
    ...nvtx.map((items, depth) => ({kind: "nvtx", items, depth, height: rowHeight})),
  ];

  function drawSeries(context, view, row, y) {
    paintSeries(context, timeline, row.series, {left: 0, right: width, from: view(0), to: view(width), top: y + 16, height: row.height - 18}, colour(palette[row.number % palette.length]));
    context.fillStyle = colour("--ink");
    context.fillText(`${row.series.name}`, marginLeft, y + 11);
    context.fillStyle = colour("--quiet");
    context.textAlign = "right";
    context.fillText(reachText(row.series), width - marginRight, y + 11);
    context.textAlign = "left";
  }

  function box(context, from, to, y, height, name, whole) {
    const left = Math.max(-1, from), right = Math.min(width + 1, Math.max(to, from + 1));
    if (right < 0 || left > width) return;
    context.fillStyle = colour(palette[placeOfName(whole || name)]);
    context.globalAlpha = 0.75;
    context.fillRect(left, y + 1, right - left, height - 3);
    context.globalAlpha = 1;
    if (right - left < 40) return;
    context.save();
    context.beginPath();
    context.rect(left, y, right - left, height);
    context.clip();
    context.fillStyle = colour("--on-box");
    context.fillText(name, Math.max(left, 0) + 4, y + height - 7);
    canvas.labels.push(name);
    context.restore();
  }

  // Draws holes as stripes; a text names the missing things if it fits.
  function drawHoles(context, scale, holes, row, y, text) {
    context.fillStyle = stripes(context);
    for (const hole of holes) {
      const left = Math.max(0, scale(hole.start)), right = Math.min(width, scale(hole.end));
      if (right - left > 2) context.fillRect(left, y + 1, right - left, row.height - 3);
    }
    for (const hole of holes) {
      const left = Math.max(0, scale(hole.start)), right = Math.min(width, scale(hole.end));
      const label = `${text}: ${formatTime(hole.end - hole.start)}`, own = right - left > 60 ? context.measureText(label).width : Infinity;
      if (own + 12 > right - left) continue;
      const middle = (left + right) / 2;
      context.fillStyle = colour("--panel");
      context.fillRect(middle - own / 2 - 4, y + row.height / 2 - 8, own + 8, 15);
      context.fillStyle = colour("--quiet");
      context.fillText(label, middle - own / 2, y + row.height / 2 + 4);
      canvas.holes.push(label);
    }
  }

  function draw() {
    const context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
    const list = rows(), height = top + d3.sum(list, r => r.height + gutter / 2);
    x.range([0, width]);
    const scale = transform.rescaleX(x), view = p => scale.invert(p);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.clearRect(0, 0, width, height);
    canvas.labels = [];
    canvas.holes = [];
    let y = top;
    for (const row of list) {
      row.y = y;
      if (row.kind === "series") drawHoles(context, scale, gaps, row, y, "no samples");
      if (row.kind === "series") drawSeries(context, view, row, y);
      if (row.kind === "launches" && row.lane === lanes[0]) drawHoles(context, scale, idle, row, y, idleText);
      if (row.kind === "launches") drawLaunches(context, scale, row, y);
      if (row.kind === "nvtx") row.items.forEach(i => box(context, scale(i.start), scale(i.end), y, row.height, i.name));
      y += row.height + gutter / 2;
    }
    axis.attr("width", width).attr("height", 24).attr("viewBox", `0 0 ${width} 24`).selectAll("*").remove();
    axis.append("g").call(d3.axisBottom(scale).ticks(Math.max(3, width / 130)).tickFormat(t => t ? formatTime(t) : "0"));
    canvas.rows = list;
  }

  function drawLaunches(context, scale, row, y) {
    let covered = -1; // pixels: nothing is drawn twice in a full one
    for (let i = 0; i < launches.start.length; i++) {
      if (launches.lane[i] !== row.lane) continue;
      const from = scale(launches.start[i]), to = scale(launches.start[i] + launches.length[i]);
      if (to < 0 || from > width || (to < covered + 0.5 && to - from < 1)) continue;
      covered = Math.max(covered, to);
      box(context, from, to, y, row.height, launches.shorts[launches.name[i]] || (paths && paths[i]) || "range", launches.names[launches.name[i]]);
    }
  }

  // The text for a place of the canvas.
  function tell(px, py) {
    const scale = transform.rescaleX(x), time = scale.invert(px);
    const row = (canvas.rows || []).find(r => py >= r.y && py < r.y + r.height);
    if (!row) return null;
    if (row.kind === "nvtx") {
      const item = row.items.find(i => time >= i.start && time <= i.end);
      return item && {text: `${item.name}: ${formatTime(item.end - item.start)} from ${formatTime(item.start)}`};
    }
    const hole = holeAt(row.kind === "series" ? gaps : row.kind === "launches" ? idle : [], time);
    if (hole) return {text: `${row.kind === "series" ? "no samples" : idleText}: ${formatTime(hole.end - hole.start)} from ${formatTime(hole.start)}`};
    if (row.kind === "series") {
      const text = sampleText(timeline, row.series, time);
      return text && {text: `${row.series.name} at ${formatTime(time)}: ${text}`};
    }
    for (let i = launches.start.length - 1; i >= 0; i--)
      if (launches.lane[i] === row.lane && time >= launches.start[i] && time <= launches.start[i] + launches.length[i]) {
        const name = launches.names[launches.name[i]];
        return {text: `${name || paths[i]}: ${formatTime(launches.length[i])} from ${formatTime(launches.start[i])}`,
                kernel: kernels.find(k => k.name === name || k.function === name)};
      }
    return null;
  }

  function key(event) {
    const moves = {ArrowLeft: [1, 0.2], ArrowRight: [1, -0.2], "+": [1.6, 0], "=": [1.6, 0], "-": [1 / 1.6, 0], ArrowUp: [1.6, 0], ArrowDown: [1 / 1.6, 0]};
    const target = d3.select(canvas);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Home") target.call(zoom.transform, d3.zoomIdentity);
    else if (!moves[event.key]) return;
    else if (moves[event.key][1]) target.call(zoom.translateBy, moves[event.key][1] * width / transform.k, 0);
    else target.call(zoom.scaleBy, moves[event.key][0]);
    event.preventDefault();
  }

  function resize() {
    const now = Math.floor(canvas.parentElement ? canvas.parentElement.clientWidth : 0);
    if (!now || now === canvas.drawn) return;
    const left = transform.x * now / width;
    width = canvas.drawn = now;
    zoom.extent([[0, 0], [width, 100]]).translateExtent([[0, 0], [width, 100]]);
    d3.select(canvas).call(zoom.transform, d3.zoomIdentity.translate(left, 0).scale(transform.k));
  }

  canvas.addEventListener("keydown", key);
  canvas.addEventListener("mousemove", e => { const told = tell(e.offsetX, e.offsetY); said.textContent = canvas.title = told ? told.text : ""; });
  canvas.addEventListener("click", e => { const told = tell(e.offsetX, e.offsetY); if (told && told.kernel) location.hash = `kernel=${told.kernel.index}`; });
  d3.select(canvas).call(zoom);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  canvas.resize = resize;
  canvas.timeAt = px => transform.rescaleX(x).invert(px);

  const choices = (timeline.series || []).map((s, i) => make("label", {title: s.name}, make("input", {type: "checkbox", checked: chosen.has(i),
    onchange: e => { if (e.target.checked) chosen.add(i); else chosen.delete(i); draw(); }}), " ", s.name));
  const button = (text, label, act) => make("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
  const notes = [];
  if (traces.length && timeline.series) notes.push("These samples were not taken during the trace: they have their own axis.");
  if (timeline.per > 1) notes.push(`There are ${plural(timeline.samples, "sample")}; each point shows the least and the greatest of ${timeline.per}.`);
  if (timeline.series_left) notes.push(`The capture has ${plural(timeline.series_left, "more metric")}.`);
  if (launches.left) notes.push(launches.left === 1 ? "The shortest launch is left out." : `The ${count(launches.left)} shortest launches are left out.`);
  if (places.length > lanes.length) notes.push(`The launches of ${plural(places.length - lanes.length, timeline.series ? "more stream" : "more device")} have no lane here.`);
  if (nvtx.length && !launches.nvtx) notes.push("NVTX ranges come from the capture of ranges: launches were matched by their order.");
  if (timeline.series && !launches.start.length) notes.push("No kernel launches were recorded.");
  if (!timeline.series && idle.length) notes.push("Gaps have other work, or time of the counting itself: the program alone has other times between launches.");
  const place = make("div", {class: "canvas"}, canvas);
  new ResizeObserver(() => requestAnimationFrame(resize)).observe(place);
  return make("section", {class: "timeline"},
    make("h3", {}, `${timeline.file}${timeline.model ? `: device ${timeline.device}, ${timeline.model}` : ": launches during the capture"}`),
    make("p", {class: "tools"}, button("+", "Zoom in", () => d3.select(canvas).call(zoom.scaleBy, 1.6)),
      button("−", "Zoom out", () => d3.select(canvas).call(zoom.scaleBy, 1 / 1.6)),
      button("All", "Show all", () => d3.select(canvas).call(zoom.transform, d3.zoomIdentity)),
      make("span", {class: "quiet"}, " Wheel zooms, drag moves; with the keyboard, arrows, + and −.")),
    choices.length > 1 ? make("details", {}, make("summary", {}, `${plural(choices.length, "metric")} to show`), make("div", {class: "choices"}, choices)) : null,
    place, make("div", {class: "canvas"}, axis.node()), said, notes.map(n => make("p", {class: "quiet"}, n)));
}
