"use strict";
// Traces as data: the events of each lane, their names, and sums over a span. Draws nothing.
//
// A lane has its items as bytes (report/trace_lanes.h). Items that overlap or nest go to different levels; items of one
// level follow one another. An item of several events stands for neighbours that are too short for the page.

const traces = read("traces");

const levelsMost = {gpu: 4, calls: 6, nvtx: 12};

const signed = zigzag => zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;

// The items of a lane, one after another as they began.
function decodeItems(lane, take) {
  const bytes = decode(lane.data, Uint8Array);
  let at = 0, end = 0, called = 0;
  const next = () => {
    let value = 0, scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (!(byte & 128)) return value;
      scale *= 128;
    }
  };
  while (at < bytes.length) {
    const head = next(), what = Math.floor(head / 8);
    const start = end + signed(next()), length = next(), many = head & 1, count = many ? next() : 1, busy = many ? next() : length;
    const cause = head & 2 ? next() : -1, step = head & 2 ? next() : 0;
    called += signed(step);
    end = start + length;
    take([start, end, what, count, busy, cause, cause < 0 ? 0 : start - called, head & 4 ? next() : -1]);
  }
}

const itemColumns = [["start", Float64Array], ["end", Float64Array], ["what", Uint32Array], ["count", Uint32Array], ["busy", Float64Array],
  ["cause", Int32Array], ["wait", Float64Array], ["value", Float64Array]];

// Levels of a lane: a column for each of itemColumns, and their length.
function levelsOf(lane) {
  if (lane.levels) return lane.levels;
  const most = levelsMost[lane.kind] || 4, ends = [], lists = [];
  decodeItems(lane, item => {
    let level = ends.findIndex(end => end <= item[0]);
    if (level < 0) level = Math.min(ends.length, most - 1);
    ends[level] = Math.max(ends[level] || 0, item[1]);
    if (!lists[level]) lists[level] = itemColumns.map(() => []);
    item.forEach((value, i) => lists[level][i].push(value));
  });
  lane.levels = lists.map(list => Object.fromEntries([["length", list[0].length], ...itemColumns.map(([key, type], i) => [key, type.from(list[i])])]));
  for (const level of lane.levels) {
    let last = 0;
    level.reach = level.end.map(end => last = Math.max(last, end)); // the last level has items that overlap
  }
  return lane.levels;
}

// The first item of a level that ends behind a time, or has no length and is there.
function firstAfter(level, time) {
  return Math.min(d3.bisectRight(level.reach, time), d3.bisectLeft(level.start, time));
}

// The items of a level that are in a span, or touch its end.
function itemsIn(level, from, to) {
  const found = [];
  for (let i = firstAfter(level, from); i < level.length && level.start[i] <= to; i++)
    if (level.end[i] > from || level.start[i] >= from) found.push(i);
  return found;
}

// Adds samples that were taken during a trace to its lanes, once. Returns whether it does.
function placeInTrace(timeline) {
  const trace = timeline.trace && traces[timeline.trace.number], group = trace ? trace.groups.findIndex(g => g.device === timeline.trace.device) : -1;
  if (group >= 0 && !timeline.placed) {
    timeline.placed = true;
    trace.samples.push({...timeline, group, start: timeline.trace.start});
  }
  return group >= 0;
}
timelines.forEach(placeInTrace);

// ---- names --------------------------------------------------------------------------------------------------------------

const kindWords = {kernel: "kernel", copy: "copy", memset: "memset", graph_launch: "CUDA graph", runtime: "call of the runtime", driver: "call of the driver",
  internal_launch: "launch by the driver", synchronization: "synchronization", overhead: "overhead", jit: "compilation", nvtx_range: "NVTX range",
  nvtx_mark: "NVTX mark", idle: "GPU idle"};
const kindOf = (trace, what) => trace.kinds[trace.whats[what].kind];
const namesOf = (trace, what) => [].concat(trace.names[trace.whats[what].name]); // the name; for kernels also short name and family

// The text in a box.
function labelOf(trace, what) {
  const [name, short] = namesOf(trace, what), kind = kindOf(trace, what);
  if (kind === "copy") return `copy ${name}`;
  if (kind === "memset") return `memset ${name}`;
  if (kind === "synchronization") return `${name.replace(/_/g, " ")} synchronization`;
  if (kind === "overhead" || kind === "jit") return name.replace(/_/g, " ");
  return short || name || `(${kindWords[kind] || kind})`;
}

// ---- colours ------------------------------------------------------------------------------------------------------------

// Families of kernels get colours in order of their time, the same in all parts of the page.
const familyPlaces = new Map();
function placeFamilies() {
  if (familyPlaces.size) return;
  if (kernels.length) groupsBy("family").forEach((g, i) => familyPlaces.set(g.name, i));
  const times = new Map();
  for (const trace of traces)
    trace.whats.forEach((w, i) => {
      const family = namesOf(trace, i)[2];
      if (family) times.set(family, (times.get(family) || 0) + w.time);
    });
  [...times].sort((a, b) => b[1] - a[1]).forEach(([family]) => { if (!familyPlaces.has(family)) familyPlaces.set(family, familyPlaces.size); });
}

// The place of a kernel's name or another text in the palette.
const namePlaces = new Map();
function placeOfName(name) {
  if (!namePlaces.has(name)) {
    placeFamilies();
    const known = kernels.find(k => k.name === name || k.function === name);
    namePlaces.set(name, (known ? familyPlaces.get(known.family) : textHash(name)) % palette.length);
  }
  return namePlaces.get(name);
}

const callColours = [[/Launch|cuLaunch/, 0], [/Synchronize|WaitEvent|EventQuery|^(stream|event|context)/, 1], [/Memcpy|Memset/, 2], [/Alloc|Malloc|Free|^Mem/, 3], [/./, 7]];
const otherColour = 7; // behind the palette: grey

// The place of an event in the palette.
function colourOf(trace, what) {
  const w = trace.whats[what], kind = kindOf(trace, what), [name, , family] = namesOf(trace, what);
  if (w.paint === undefined) {
    placeFamilies();
    if (kind === "kernel") w.paint = familyPlaces.get(family) % palette.length;
    else if (kind === "copy" || kind === "memset") w.paint = otherColour;
    else if (kind === "overhead" || kind === "jit") w.paint = 6;
    else if (kind === "runtime" || kind === "driver" || kind === "internal_launch" || kind === "synchronization") w.paint = callColours.find(([pattern]) => pattern.test(name || "-"))[1];
    else w.paint = textHash(name) % palette.length;
  }
  return w.paint;
}

// ---- sums over a span -----------------------------------------------------------------------------------------------------

// The busy time of a device over all its streams: intervals that do not touch, and the busy time before each.
function busyOf(trace, group) {
  const place = trace.groups[group];
  if (place.busy) return place.busy;
  const levels = trace.lanes.filter(lane => lane.group === group && lane.kind === "gpu").flatMap(levelsOf), heads = levels.map(() => 0);
  const starts = [], ends = [], before = [];
  let sum = 0;
  for (;;) {
    let first = -1;
    levels.forEach((level, i) => {
      if (heads[i] < level.length && (first < 0 || level.start[heads[i]] < levels[first].start[heads[first]])) first = i;
    });
    if (first < 0) break;
    const level = levels[first], i = heads[first]++, last = ends.length - 1;
    // neighbours drawn together: their busy time, from the start of the first
    const start = level.start[i], end = start + Math.max(level.busy[i], 0);
    if (last >= 0 && start <= ends[last]) {
      sum += Math.max(0, end - ends[last]);
      ends[last] = Math.max(ends[last], end);
    } else {
      starts.push(start);
      ends.push(end);
      before.push(sum);
      sum += end - start;
    }
  }
  place.busy = {starts: Float64Array.from(starts), ends: Float64Array.from(ends), before: Float64Array.from(before)};
  return place.busy;
}

function busyUntil({starts, ends, before}, time) {
  const i = d3.bisectRight(starts, time) - 1;
  return i < 0 ? 0 : before[i] + Math.min(time, ends[i]) - starts[i];
}

const busyIn = (trace, group, from, to) => busyUntil(busyOf(trace, group), to) - busyUntil(busyOf(trace, group), from);

// The span with nearly all of the devices' time, and a rim: the first view of the chart. It skips seconds of start-up
// before a second of training. Null if it is most of the trace.
function busySpan(trace) {
  let from = Infinity, to = 0;
  trace.groups.forEach((group, g) => {
    const {starts, ends, before} = busyOf(trace, g), last = starts.length - 1, all = last < 0 ? 0 : before[last] + ends[last] - starts[last];
    if (!all) return;
    const at = share => { const i = d3.bisectRight(before, share * all) - 1; return Math.min(ends[i], starts[i] + share * all - before[i]); };
    from = Math.min(from, at(0.03));
    to = Math.max(to, at(0.97));
  });
  const rim = (to - from) * 0.1;
  return to - from > 0 && to - from < 0.6 * trace.span ? [Math.max(0, from - rim), Math.min(trace.span, to + rim)] : null;
}

// Sums by name over a span, in lanes of some kinds: {what, time, count, bytes}, the longest first. `time` is the part
// within the span; `what` is one event with this name.
function sumsIn(trace, kinds, from, to) {
  const sums = new Map();
  let grouped = 0;
  for (const lane of trace.lanes.filter(l => kinds.includes(l.kind)))
    for (const level of levelsOf(lane))
      for (const i of itemsIn(level, from, to)) {
        const whole = level.end[i] - level.start[i], inside = Math.min(to, level.end[i]) - Math.max(from, level.start[i]);
        if (whole && !inside) continue;
        const w = trace.whats[level.what[i]], key = w.kind * trace.names.length + w.name;
        const sum = sums.get(key) || {what: level.what[i], time: 0, count: 0, bytes: 0};
        sum.time += whole ? level.busy[i] * inside / whole : 0;
        sum.count += level.count[i];
        sum.bytes += level.value[i] < 0 ? NaN : level.value[i]; // unknown bytes make the sum unknown
        if (level.count[i] > 1) grouped += level.count[i];
        sums.set(key, sum);
      }
  return {list: [...sums.values()].sort((a, b) => b.time - a.time), grouped};
}

// ---- related events -----------------------------------------------------------------------------------------------------

const sameItem = (a, b) => a && b && a.level === b.level && a.i === b.i;

// The item of a lane that began at a time, or the neighbours around it that are drawn together.
function itemAt(trace, lane, time) {
  const levels = levelsOf(trace.lanes[lane]);
  for (let depth = levels.length - 1; depth >= 0; depth--) {
    const level = levels[depth], i = itemsIn(level, time, time).find(k => level.start[k] === time || level.count[k] > 1);
    if (i !== undefined) return {lane, level, depth, i};
  }
  return null;
}

const callOf = (trace, item) => item.level.cause[item.i] < 0 ? null
  : itemAt(trace, item.level.cause[item.i], item.level.start[item.i] - item.level.wait[item.i]);

// The events that a call launched, at most `most`.
function launchedBy(trace, item, most) {
  const found = [], from = item.level.start[item.i], to = item.level.count[item.i] > 1 ? item.level.end[item.i] : from;
  trace.lanes.forEach((lane, index) => {
    if (lane.kind !== "gpu") return;
    levelsOf(lane).forEach((level, depth) => {
      for (let i = 0; i < level.length && found.length < most; i++) {
        const called = level.start[i] - level.wait[i];
        if (level.cause[i] === item.lane && called >= from && called <= to) found.push({lane: index, level, depth, i});
      }
    });
  });
  return found;
}

// The names of the NVTX ranges of a thread at a time, the outermost first.
function rangesAt(trace, group, time) {
  return trace.lanes.filter(lane => lane.kind === "nvtx" && lane.group === group).flatMap(lane => levelsOf(lane).flatMap(level =>
    itemsIn(level, time, time).filter(i => level.end[i] > time).map(i => level.count[i] > 1 ? `(one of ${count(level.count[i])} ranges)` : labelOf(trace, level.what[i]))));
}
