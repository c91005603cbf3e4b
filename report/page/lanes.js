"use strict";
// Lanes of a trace on a canvas, with samples beneath them on the same axis. Events narrower than a pixel are added up.

const lane = {left: 150, box: 18, thin: 15, head: 22, series: 46, gap: 4};
const boxHeight = kind => kind === "gpu" ? lane.box : lane.thin;

// The rows of the canvas, from the top: heads of groups, lanes, series. `open` has the groups with visible lanes.
function rowsOf(trace, open, series) {
  const rows = [];
  let y = 2;
  const add = row => { rows.push({...row, y}); y += row.height + lane.gap; };
  trace.groups.forEach((group, g) => {
    if (!open.has(g) && !group.listed) return;
    add({kind: "head", group: g, height: lane.head});
    if (!open.has(g)) return;
    trace.lanes.forEach((l, index) => {
      if (l.group === g && levelsOf(l).length) add({kind: "lane", lane: index, height: levelsOf(l).length * (boxHeight(l.kind) + 1)});
    });
    series.filter(s => s.group === g && s.shown).forEach(s => add({kind: "series", series: s, height: lane.series}));
  });
  return {rows, height: y};
}

// The current colours, light or dark.
function inks() {
  const named = Object.fromEntries(["ink", "quiet", "line", "panel", "paper", "accent", "on-box", "track", "c2"].map(n => [n, colour(`--${n}`)]));
  return {...named, palette: [...palette.map(colour), colour("--quiet")]};
}

// A time on an axis with ticks `step` apart, with enough digits to tell neighbours apart.
function tickText(time, step, greatest) {
  const [factor, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([f]) => greatest >= f) || [1, "ns"];
  return time ? `${(time / factor).toLocaleString("en-US", {maximumFractionDigits: Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9) + 1)})} ${unit}` : "0";
}

// Series of the same quantity have one colour on all devices.
const seriesColours = new Map([["power", 1], ["SM clock", 2], ["temperature", 3], ["memory clock", 4]]);
const seriesColour = s => seriesColours.has(s.name) ? seriesColours.get(s.name) : / memory$/.test(s.name) ? 0 : textHash(s.name) % palette.length;

const cssColour = argb => `rgb(${argb >>> 16 & 255}, ${argb >>> 8 & 255}, ${argb & 255})`;
const isLight = argb => (argb >>> 16 & 255) * 0.299 + (argb >>> 8 & 255) * 0.587 + (argb & 255) * 0.114 > 120;

// One box. p: {context, trace, view, inks, stripes, found, labels}.
function paintBox(p, level, i, x1, x2, y, height) {
  const {context} = p, what = level.what[i], w = p.trace.whats[what], many = level.count[i] > 1, dim = p.found && !p.found[what];
  const whole = level.end[i] - level.start[i], kind = kindOf(p.trace, what), width = Math.max(1, x2 - x1 - (x2 - x1 > 3 ? 0.7 : 0));
  const tall = many ? Math.max(4, height * Math.min(1, level.busy[i] / (whole || 1))) : height, own = w.color && !many;
  context.globalAlpha = dim ? 0.18 : many ? 0.55 : 0.85;
  context.fillStyle = own ? cssColour(w.color) : kind === "idle" ? p.inks.track : p.inks.palette[colourOf(p.trace, what)];
  context.fillRect(x1, y + height - tall, width, tall);
  if (width > 3 && ["copy", "memset", "idle"].includes(kind)) {
    context.fillStyle = p.stripes;
    context.fillRect(x1, y, width, height);
  }
  context.globalAlpha = 1;
  const room = Math.floor((Math.min(x2, p.view.right) - Math.max(x1, p.view.left) - 6) / 6.6);
  if (room < 4) return;
  const label = many ? `${count(level.count[i])} events, ${labelOf(p.trace, what)}` : labelOf(p.trace, what);
  context.fillStyle = dim || kind === "idle" ? p.inks.quiet : own && !isLight(w.color) ? "#ffffff" : colourOf(p.trace, what) === otherColour ? p.inks.paper : p.inks["on-box"];
  context.fillText(label.length > room ? `${label.slice(0, room - 1)}…` : label, Math.max(x1, p.view.left) + 3, y + height - (height > 16 ? 5.5 : 4));
  p.labels.push(label);
}

// A level of a lane.
function paintLevel(p, level, y, height) {
  const {view, trace} = p, kinds = p.inks.palette.length, cover = p.cover.fill(0);
  let any = false;
  for (const i of itemsIn(level, view.from, view.to)) {
    const x1 = view.at(level.start[i]), x2 = view.at(level.end[i]);
    if (x2 - x1 >= 1.5) {
      paintBox(p, level, i, Math.max(x1, view.left - 1), Math.min(x2, view.right + 1), y, height);
    } else {
      const column = Math.max(0, Math.floor(x1 - view.left)), what = level.what[i], shade = p.found && !p.found[what] ? kinds : colourOf(trace, what);
      cover[column * (kinds + 1) + shade] += Math.max(0.02, (x2 - x1) * level.busy[i] / (level.end[i] - level.start[i] || 1));
      any = true;
    }
  }
  if (any) paintColumns(p, y, height, kinds + 1);
}

// The height of a column of pixels is the share of its time with events; its colours are those of the events.
function paintColumns(p, y, height, shades) {
  const columns = Math.min(p.cover.length / shades, Math.ceil(p.view.right - p.view.left)), dim = shades - 1;
  for (let c = 0; c < columns; c++) {
    let sum = 0;
    for (let s = 0; s < shades; s++) sum += p.cover[c * shades + s];
    if (!sum) continue;
    const tall = Math.max(3, height * Math.min(1, sum));
    let bottom = y + height;
    for (let s = 0; s < shades; s++) {
      const part = p.cover[c * shades + s];
      if (!part) continue;
      const own = p.found && s !== dim ? Math.max(3, tall * part / sum) : tall * part / sum; // a found event is always visible
      p.context.globalAlpha = s === dim ? 0.35 : 0.85;
      p.context.fillStyle = s === dim ? p.inks.quiet : p.inks.palette[s];
      p.context.fillRect(p.view.left + c, bottom - own, 1, own);
      bottom -= own;
    }
  }
  p.context.globalAlpha = 1;
}

// Names of rows, left of them.
function paintLabel(p, row, open) {
  const {context, trace} = p;
  if (row.kind === "head") {
    const group = trace.groups[row.group];
    context.fillStyle = p.inks.track;
    context.fillRect(0, row.y, p.view.right, row.height);
    context.fillStyle = p.inks.ink;
    context.font = "600 12px system-ui, sans-serif";
    context.fillText(`${open.has(row.group) ? "▾" : "▸"} ${group.title}`, 6, row.y + 15);
    context.font = "11px system-ui, sans-serif";
    return;
  }
  const text = row.kind === "lane" ? trace.lanes[row.lane].title : row.series.series.name;
  const cut = (part, most) => part.length > most ? `${part.slice(0, most - 1)}…` : part, long = text.length > 23 && row.kind === "series";
  context.fillStyle = p.inks.quiet;
  context.fillText(long ? text.slice(0, 23) : cut(text, 23), 8, row.y + 12);
  if (long) context.fillText(cut(text.slice(23), 23), 8, row.y + 25);
  if (row.kind === "series") context.fillText(reachText(row.series.series), 8, row.y + (long ? 38 : 27));
}

// Lines from calls to the work that they launched.
function paintFlows(p, flows, place) {
  const {context, view} = p;
  context.strokeStyle = p.inks.ink;
  context.lineWidth = 1.3;
  for (const [call, item] of flows) {
    const a = place(call), b = place(item);
    if (!a || !b) continue;
    const x1 = Math.max(view.left, Math.min(view.right, view.at(call.level.start[call.i]))), x2 = Math.max(view.left, Math.min(view.right, view.at(item.level.start[item.i])));
    const up = b.y < a.y, y1 = up ? a.y : a.y + a.height, y2 = up ? b.y + b.height : b.y, bend = (y1 + y2) / 2;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1, bend, x2, bend, x2, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 3.5, y2 + (up ? 6 : -6));
    context.lineTo(x2 + 3.5, y2 + (up ? 6 : -6));
    context.fillStyle = p.inks.ink;
    context.fill();
  }
}

// Lines around items.
function paintOutlines(p, items, place, ink, width) {
  for (const item of items) {
    const at = place(item);
    if (!at) continue;
    const x1 = Math.max(p.view.left, p.view.at(item.level.start[item.i])), x2 = Math.min(p.view.right, Math.max(p.view.at(item.level.end[item.i]), x1 + 2));
    if (x2 < p.view.left || x1 > p.view.right) continue;
    p.context.strokeStyle = ink;
    p.context.lineWidth = width;
    p.context.strokeRect(x1 - 1, at.y - 1, x2 - x1 + 2, at.height + 2);
  }
}
