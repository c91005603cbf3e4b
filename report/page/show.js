"use strict";
// Shared by all parts of the page: data, elements, numbers, tables, and explanations of values.
//
// Names and texts come from captures, which may be hostile. They become text nodes (make) and values of properties,
// never HTML.

function read(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

const data = read("data");
const advice = read("advice");
const kernels = data.kernels || [];
const metrics = data.metrics || [];
const metricByName = new Map(metrics.map((m, i) => [m.name, i]));
// Unknown times are null in the data, which would be 0 in a share.
const timeless = of => ["total", "mean", "least", "greatest", "deviation"].forEach(key => { of[key] = of[key] ?? NaN; });
kernels.forEach((k, i) => {
  k.index = i;
  k.advice = advice ? advice.kernels[i] : null;
  [k, k.before].filter(Boolean).forEach(timeless);
});

const byId = id => document.getElementById(id);

// Makes an element. Properties that begin with "on" are listeners; "class" and names with "-" are attributes. Children
// are elements or texts.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class" || key === "role" || key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

// A name with places where a line may end.
const breakable = name => name.split(/(?<=[_<,:])(?![_<,:])/).flatMap((part, i) => i ? [make("wbr"), part] : [part]);

// The short name of a kernel or of a line's function; the pointer shows the whole name.
const nameCell = of => make("span", {title: of.name || of.function}, breakable(of.short));

// ---- numbers ------------------------------------------------------------------------------------------------------

const missing = "–";

// Whether a value is as large as a unit once it is rounded: 999.96 µs are 1 ms.
const reaches = (value, unit) => Number(Math.abs(value).toPrecision(4)) >= unit;

function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  if (reaches(value, 1000)) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

const prefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

// "1.2 GB/s", "25 k sectors": units that are symbols join their prefix, words do not.
function scaled(value, unit) {
  const gap = /^(B|FLOP|OP|Hz)\b/.test(unit) ? "" : " ";
  for (const [factor, prefix] of prefixes)
    if (reaches(value, factor)) return `${digits(value / factor)} ${prefix}${gap}${unit}`.trim();
  return `${digits(value)} ${unit}`.trim();
}

function formatTime(ns) {
  if (!Number.isFinite(ns)) return missing;
  if (reaches(ns, 1e9)) return `${digits(ns / 1e9)} s`;
  if (reaches(ns, 1e6)) return `${digits(ns / 1e6)} ms`;
  if (reaches(ns, 1e3)) return `${digits(ns / 1e3)} µs`;
  return `${digits(ns)} ns`;
}

const unitWords = new Map([["bytes", "B"], ["ctas", "blocks"], ["math_ops", "operations"]]);

// A unit as people write it: "registers/thread" of "registers/threads", "cycles" of "gpc_cycles", "B" of "bytes".
function unitText(unit) {
  const word = w => unitWords.get(w) || w.replace(/^\w+_cycles$/, "cycles").replace(/^(l1tex|l1data|l1|l2|lts|idc|gcc)_/, "").replace(/_/g, " ");
  const [over, ...under] = unit.split("/").map(part => part.replace(/[A-Za-z]\w*/g, word));
  if (over === "cycles" && under[0] === "s") return "Hz";
  return [over, ...under.map(u => u.replace(/([a-z])s$/, "$1"))].join("/").replace(/\*/g, " × ");
}

// A value with its unit, for people.
function format(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  if (unit === "%") return percentText(value);
  if (unit === "nanoseconds") return formatTime(value);
  if (unit === "1" || unit === "") return digits(value);
  return scaled(value, unitText(unit));
}

// A share with a bar; the bar is full at the greatest share of the column.
const shareCell = (share, greatest) => make("span", {class: "with-bar"}, bar(share / greatest), make("span", {}, percent(share)));
const percentText = value => `${value === 0 || Math.abs(value) >= 99.95 ? Math.round(value) : value.toFixed(Math.abs(value) >= 0.995 ? 1 : 2)}\u00a0%`;
const percent = share => Number.isFinite(share) ? percentText(100 * share) : missing;
const count = value => value.toLocaleString("en-US");
const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;
const size = xyz => xyz.some(n => n) ? xyz.join("×").replace(/(×1)+$/, "") : "any";

// ---- values of kernels --------------------------------------------------------------------------------------------

const statusNames = data.statuses || [];

const valueOf = (kernel, metric) => kernel.values[metric];
const statusOf = (kernel, metric) => Number(kernel.statuses[metric]);

// Orders implausible values behind all others.
const isImplausible = (kernel, metric) => statusNames[statusOf(kernel, metric)] === "implausible";

// The index of the first of some metrics with a number for the kernel, or -1.
function firstKnown(kernel, names) {
  for (const name of [].concat(names || [])) {
    const metric = metricByName.get(name);
    if (metric !== undefined && Number.isFinite(valueOf(kernel, metric))) return metric;
  }
  return -1;
}

// The unit of counting: a launch, or a user range.
const launchWords = kernels.length && !kernels.some(k => k.function) ? ["range", "ranges"] : ["launch", "launches"];
const launchTitle = launchWords[0] === "range" ? "Ranges" : "Launches", launchOne = `A ${launchWords[0]}`;
const launches = n => `${count(n)} ${launchWords[n === 1 ? 0 : 1]}`;

// Grid and block; user ranges have none.
const shapeOf = k => k.grid.some(n => n) ? make("small", {class: "whole", title: "grid × block"}, ` ${size(k.grid)} × ${size(k.block)}`) : null;

const statusMarks = ["", "~", "×", "÷0", "!", "!", ">", "–", "–"];

// The number of launches behind a multiplexed value, and their spread: ", n=20 ±1.2 %".
function spreadText(kernel, metric) {
  if (!kernel.occurrences || statusNames[statusOf(kernel, metric)] !== "multiplexed") return "";
  const spread = kernel.spreads[metric], value = Math.abs(valueOf(kernel, metric));
  return `, n=${count(kernel.occurrences[metric])}` +
    (Number.isFinite(spread) && value ? ` ±${(100 * spread / value).toFixed(spread < 0.1 * value ? 2 : 1)} %` : "");
}

// A value as a button that explains it.
function valueButton(kernel, metric, text) {
  const status = statusOf(kernel, metric);
  const shown = text || format(valueOf(kernel, metric), metrics[metric].unit);
  return make("button", {
    class: "value", type: "button", title: `${metrics[metric].name}: ${statusNames[status]}${spreadText(kernel, metric)}. How it came about`,
    onclick: event => { event.stopPropagation(); explain(kernel, metric); },
  }, shown, statusMarks[status] ? make("sup", {class: "status"}, statusMarks[status]) : null);
}

function changeText(now, before) {
  if (!Number.isFinite(now) || !Number.isFinite(before)) return null;
  if (now === before) return "=";
  if (!before) return "new";
  const change = now / before - 1;
  return `${change > 0 ? "+" : "−"}${digits(Math.abs(100 * change))} %`;
}

// The change of a time: less is better.
function changeOfTime(now, before) {
  const text = changeText(now, before);
  if (!text) return make("span", {}, missing);
  const better = now < before * 0.99, worse = now > before * 1.01;
  return make("span", {class: better ? "better" : worse ? "worse" : "even"}, better ? "▼ " : worse ? "▲ " : "", text);
}

// ---- explanations of values ---------------------------------------------------------------------------------------

const rollups = ["sum", "avg", "min", "max"];

// A formula with the kernel's numbers in place of "avg(counter)" and "avg(peak of counter)"; null if one is unknown.
function withNumbers(kernel, formula) {
  const counters = new Map((data.counters || []).map((c, i) => [c.name, i]));
  let whole = true;
  const text = formula.replace(/\b(sum|avg|min|max)\((peak of )?([^()\s]+)\)/g, (all, rollup, peak, name) => {
    const counter = counters.get(name);
    const r = rollups.indexOf(rollup);
    const value = counter === undefined ? null
      : peak ? data.counters[counter].devices[kernel.device][1 + r] : (kernel.counters[counter] || [])[r];
    if (value === null || value === undefined) whole = false;
    return value === null || value === undefined ? all : String(value);
  });
  return whole && text !== formula ? text : null;
}

// All counters behind a metric, directly or through other metrics.
function countersOf(metric, seen = new Set(), found = new Set()) {
  if (seen.has(metric)) return found;
  seen.add(metric);
  (metrics[metric].counters || []).forEach(c => found.add(c));
  (metrics[metric].parts || []).forEach(part => countersOf(part, seen, found));
  return found;
}

function formulaOf(kernel, metric) {
  const m = metrics[metric];
  if (m.type === "fact") return make("p", {}, "A fact of the launch or the device, recorded without counting.");
  const box = make("div", {class: "formula"});
  if (m.type === "throughput") box.append(make("p", {}, "The largest of its parts:"));
  else if (m.formula) box.append(make("code", {}, "= " + m.formula));
  const numbers = m.formula && withNumbers(kernel, m.formula);
  if (numbers) box.append(make("code", {}, "= " + numbers));
  return box;
}

function partsOf(kernel, metric) {
  const m = metrics[metric];
  if (!m.parts) return null;
  const parts = m.type === "throughput"
    ? m.parts.slice().sort((a, b) => (valueOf(kernel, b) ?? -1) - (valueOf(kernel, a) ?? -1)) : m.parts;
  return make("table", {class: "parts"}, make("tbody", {}, parts.map(part => make("tr", {},
    make("td", {class: "number"}, valueButton(kernel, part)),
    make("td", {}, m.type === "throughput" ? bar(valueOf(kernel, part) / 100) : null),
    make("td", {class: "any"}, metrics[part].name)))));
}

function counterTable(kernel, metric) {
  const found = [...countersOf(metric)];
  if (!found.length) return null;
  const exact = value => value === null || value === undefined ? missing : String(value);
  return make("div", {class: "scroll"}, make("table", {},
    make("thead", {}, make("tr", {}, ["Counter", "Instances", ...rollups, "Passes"].map((t, i) => make("th", {scope: "col", class: i && i < 6 ? "number" : null}, t)))),
    make("tbody", {}, found.map(c => {
      const counter = data.counters[c], values = kernel.counters[c] || [];
      return make("tr", {}, make("td", {}, counter.name),
        make("td", {class: "number"}, exact(counter.devices[kernel.device][0] || null)),
        rollups.map((r, i) => make("td", {class: "number"}, exact(values[i]))),
        make("td", {}, counter.passes.join(", ") + (counter.split ? " (in parts)" : "")));
    }))));
}

let explained = [];

// Opens a window that explains a value. Values in it open their own explanation; "Back" returns.
function explain(kernel, metric, back) {
  const dialog = byId("explain");
  if (!dialog.open) explained = [];
  if (!back) explained.push([kernel, metric]);
  const m = metrics[metric], status = statusOf(kernel, metric);
  const value = valueOf(kernel, metric);
  const goBack = () => { explained.pop(); explain(...explained[explained.length - 1], true); };
  dialog.replaceChildren(...[
    make("form", {method: "dialog", class: "buttons"},
      explained.length > 1 ? make("button", {type: "button", onclick: goBack}, "← Back") : null,
      make("button", {value: "close"}, "Close")),
    make("h2", {id: "explain-title"}, m.name),
    make("p", {class: "big"}, format(value, m.unit),
      make("small", {}, value === null ? "" : `  ${value} ${m.unit === "1" ? "" : m.unit}`)),
    make("p", {}, make("strong", {}, statusNames[status] + spreadText(kernel, metric)), status ? ": " + statusTexts[status] : "", ` · ${kernel.short}`),
    m.about ? make("p", {}, m.about) : null,
    formulaOf(kernel, metric), partsOf(kernel, metric), counterTable(kernel, metric),
    make("p", {class: "quiet"}, kernel.launches > 1
      ? statusNames[status] === "multiplexed" ? `Counters are means, to nine digits, of the launches counted in their pass, out of ${launches(kernel.launches)}.`
        : `Counters are means of ${kernel.used < kernel.launches ? `${count(kernel.used)} of ` : ""}${launches(kernel.launches)}, to nine digits.`
      : "Numbers have nine digits.")].filter(Boolean));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

const statusTexts = ["", "its counters come from different passes, and the program may have behaved differently in each",
  "the mean of launches or ranges, each counted in one pass", "a denominator is zero", "a counter overflowed",
  "a pass is missing", "a share above 100 %: its passes differ, or it is no share", "the device does not have it", "the capture lacks a counter that it needs"];

// ---- tables -------------------------------------------------------------------------------------------------------

function bar(share) {
  const part = Math.max(0, Math.min(1, share || 0));
  const fill = make("span", {class: "fill"});
  fill.style.width = `${100 * part}%`;
  return make("span", {class: "bar", "aria-hidden": "true"}, fill);
}

// A table: a click on a heading sorts it, and a search shows the rows with all its words, in their cells, in whole names
// or in text(row).
// columns: {title, value(row) to sort by, cell(row), text(row), number, wide}. sorted: the first column to sort by; -1: none.
// open(row) runs on Enter and on a click on a row.
function sortableTable({columns, rows, label, open, search, sorted, first}) {
  const body = make("tbody");
  const state = {column: sorted || 0, down: true, words: []};
  const headings = columns.map((c, i) => make("th", {scope: "col", class: c.number ? "number" : ""},
    make("button", {type: "button", title: c.hint, onclick: () => sortBy(i)}, c.title)));
  const texts = new Map(); // of rows, made by the first search
  const more = make("button", {type: "button", class: "more", onclick: () => { limit = Infinity; fill(); }});
  let limit = first || 60;

  function sortBy(i) {
    state.down = state.column === i ? !state.down : Boolean(columns[i].number);
    state.column = i;
    fill();
  }

  function compare(a, b) {
    const c = columns[state.column], x = c.value(a), y = c.value(b);
    const unknown = v => v === null || v === undefined || v === "" || Number.isNaN(v);
    if (unknown(x) || unknown(y)) return unknown(x) - unknown(y);
    const order = typeof x === "string" ? x.localeCompare(y, undefined, {numeric: true}) : x - y;
    return state.down ? -order : order;
  }

  const cell = (c, r) => make("td", {class: c.number ? "number" : c.wide ? "wide" : ""}, c.cell ? c.cell(r) : String(c.value(r)));

  function row(r) {
    return make("tr", open ? {tabIndex: 0, onclick: () => open(r), onkeydown: e => move(e, r)} : {}, columns.map(c => cell(c, r)));
  }

  function hasWords(r) {
    const words = c => [cell(c, r).textContent, ...[c.value, c.text].map(of => of && of(r)).filter(text => typeof text === "string")];
    if (state.words.length && !texts.has(r)) texts.set(r, columns.flatMap(words).join(" ").toLowerCase());
    return state.words.every(w => texts.get(r).includes(w));
  }

  function move(event, r) {
    if (event.target !== event.currentTarget) return;
    const to = {ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling"}[event.key];
    if (event.key === "Enter") open(r);
    else if (to && event.currentTarget[to]) event.currentTarget[to].focus();
    else return;
    event.preventDefault();
  }

  function fill() {
    const found = rows.filter(hasWords), shown = state.column < 0 ? found : found.sort(compare);
    body.replaceChildren(...shown.slice(0, limit).map(row));
    headings.forEach((h, i) => h.setAttribute("aria-sort", i !== state.column ? "none" : state.down ? "descending" : "ascending"));
    more.hidden = shown.length <= limit;
    more.textContent = `Show all ${count(shown.length)}`;
  }

  const input = search && make("input", {type: "search", placeholder: "Search", "aria-label": `Search ${label}`,
    oninput: e => { state.words = e.target.value.toLowerCase().split(/\s+/).filter(Boolean); fill(); }});
  fill();
  return make("div", {}, input || null, make("div", {class: "scroll"},
    make("table", {"aria-label": label, class: open ? "open" : ""}, make("thead", {}, make("tr", {}, headings)), body)), more);
}
