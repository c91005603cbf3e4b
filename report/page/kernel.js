"use strict";
// One kernel in full.

const panel = (title, ...content) => {
  const shown = content.flat().filter(Boolean);
  return shown.length ? make("section", {class: "panel"}, make("h3", {}, title), shown) : null;
};

// ---- limiter and findings -----------------------------------------------------------------------------------------

function limiterPath(kernel) {
  const a = kernel.advice;
  if (!a || !a.limiter_path.length) return make("p", {class: "quiet"}, "The capture lacks the counters that show the limit of this kernel: metric-config --for-advice plans them.");
  return make("div", {}, make("ol", {class: "path"},
    make("li", {}, make("span", {class: "step"}, formatTime(kernel.mean)), ` ${launchOne.toLowerCase()}`),
    a.limiter_path.map(step => make("li", {}, make("span", {class: "step"}, step.title),
      step.value !== null ? make("span", {}, " ", percent(step.value), bar(step.value)) : null,
      step.status !== "ok" ? make("span", {class: "status"}, ` ${step.status}`) : null))),
    make("p", {class: "quiet"}, `Confidence: ${a.confidence}.`));
}

// The saving of a finding in whole percent, as in the terminal.
const gainText = (f, of = "of the kernel's time") => make("span", {class: "gain", title: of}, `−${Math.round(100 * f.gain)} %`);

function evidence(kernel, e) {
  const metric = metricByName.get(e.metric);
  const value = metric !== undefined ? valueButton(kernel, metric)
    : make("span", {}, format(e.value, e.unit || "1"), e.status !== "ok" ? make("sup", {class: "status", title: e.status}, "~") : null);
  return make("tr", {}, make("td", {class: "number"}, value), make("td", {}, e.metric));
}

function finding(kernel, f) {
  return make("article", {class: "finding"},
    make("h4", {}, f.gain > 0 ? gainText(f) : null, ` ${f.title} `,
      make("small", {}, f.rule)),
    make("p", {}, f.text), f.fix ? make("p", {}, make("strong", {}, "To do: "), f.fix) : null,
    f.lines.length ? make("p", {}, make("strong", {}, "Lines: "), f.lines.map((l, i) =>
      make("span", {}, i ? ", " : "", `${l.file}:${l.line} (${percent(l.share)} of samples)`))) : null,
    make("details", {}, make("summary", {}, `Evidence, confidence ${f.confidence}`), make("table", {class: "parts"}, make("tbody", {}, f.evidence.map(e => evidence(kernel, e))))));
}

function findings(kernel) {
  const a = kernel.advice;
  if (!a) return null;
  const list = a.findings.map(f => finding(kernel, f));
  if (a.not_checked) list.push(make("p", {class: "quiet"}, `Not checked for lack of counters: ${a.not_checked.join(", ")}.`));
  return list.length ? list : make("p", {class: "quiet"}, a.limiter ? "No rule found a saving above 5 % of its time."
    : "The capture lacks the counters that the rules need: metric-config --for-advice plans them.");
}

// ---- metrics ------------------------------------------------------------------------------------------------------

// The metrics of a kernel, by section.
function sectionsOf(kernel) {
  const sections = [...data.sections, "More metrics"].map(title => ({title, list: []}));
  metrics.forEach((m, i) => {
    if (!m.part && statusOf(kernel, i) !== statusNames.indexOf("not collected")) sections[m.section].list.push(i);
  });
  return sections.filter(s => s.list.length);
}

function metricRow(kernel, metric, before) {
  const m = metrics[metric];
  const was = before ? before.values[metric] : null;
  return make("tr", {}, make("th", {scope: "row", title: m.about}, m.name), make("td", {class: "number"}, valueButton(kernel, metric)),
    make("td", {}, m.unit === "%" ? bar(valueOf(kernel, metric) / 100) : null),
    before ? make("td", {class: "number"}, format(was, m.unit)) : null,
    before ? make("td", {class: "number"}, changeText(valueOf(kernel, metric), was) || missing) : null);
}

function metricTables(kernel) {
  const before = kernel.before;
  return sectionsOf(kernel).map(s => make("details", {open: false}, make("summary", {}, `${s.title} (${s.list.length})`),
    make("table", {class: "metrics"}, before ? make("thead", {}, make("tr", {}, ["Metric", "Value", "", "Baseline", "Change"].map(t => make("th", {scope: "col"}, t)))) : null,
      make("tbody", {}, s.list.map(m => metricRow(kernel, m, before))))));
}

// ---- source -------------------------------------------------------------------------------------------------------

const sources = read("source");

const textOf = (source, line) => line.file === undefined ? "" : (source.files[line.file].text || {})[line.line] || "";
const placeOf = (source, line) => !line.line ? "no line information"
  : `${line.file === undefined ? "?" : source.files[line.file].name.split("/").pop()}:${line.line}`;

// Columns that may be empty: the text of lines, and functions if there are several.
const isInstruction = of => of[0].text !== undefined;
const codeColumn = (source, of) => isInstruction(of) ? [
  {title: "Offset", value: l => l.offset, cell: l => `0x${l.offset.toString(16).padStart(5, "0")}`},
  {title: "Instruction", wide: true, value: l => l.text, cell: l => make("code", {class: "code"}, l.text)},
  ...(of.some(l => l.ptx) ? [{title: "PTX", wide: true, hint: "the line that the instruction was made from", value: l => l.ptx, cell: l => make("code", {class: "code"}, l.ptx)}] : []),
] : !source.files.some(f => f.text) ? [] : [{title: "Code", wide: true, value: l => textOf(source, l),
  cell: l => make("code", {class: "code"}, textOf(source, l).trim())}];
const functionColumn = of => of.every(l => l.function === of[0].function) ? [] : [{title: "Function", wide: true, value: l => l.function, cell: nameCell}];

// The lines or instructions `of` with PC samples and their code, the hottest first.
function sampleTable(source, of) {
  const total = source.counted || 1, most = d3.max(of, l => l.total);
  const reasons = line => line.counts.slice().sort((a, b) => b[1] - a[1]).slice(0, 3)
    .map(([w, n]) => `${source.whats[w].replace(/_/g, " ")} ${percent(n / line.total)}`).join(", ");
  return sortableTable({label: isInstruction(of) ? "instructions" : "source lines", rows: of, search: of.length > 20, first: 25, columns: [
    {title: "Samples", number: true, value: l => l.total, cell: l => count(l.total)},
    {title: "Share", number: true, value: l => l.total, cell: l => shareCell(l.total / total, most / total)},
    {title: "Not issued", number: true, hint: "samples in which the scheduler issued nothing", value: l => l.not_issued, cell: l => count(l.not_issued)},
    {title: "Line", value: l => placeOf(source, l)},
    ...codeColumn(source, of),
    {title: "Waited for", value: reasons},
    ...functionColumn(of),
  ]});
}

function sassTable(source, of) {
  const value = (line, w) => (line.counts.find(c => c[0] === w) || [0, 0])[1];
  const shown = source.whats.map((_, w) => w).slice(0, 8);
  return sortableTable({label: isInstruction(of) ? "instructions" : "source lines", rows: of, search: of.length > 20, first: 25, columns: [
    {title: "Line", value: l => placeOf(source, l)},
    ...codeColumn(source, of),
    ...shown.map(w => ({title: source.whats[w].replace(/^smsp__sass_/, ""), hint: source.whats[w], number: true, value: l => value(l, w), cell: l => count(value(l, w))})),
    ...functionColumn(of),
  ], sorted: codeColumn(source, of).length + 1});
}

// The text of a file, with the samples of each line beside it.
function listing(source, file, lines) {
  const text = source.files[file].text;
  if (!text) return null;
  const byLine = new Map();
  lines.filter(l => l.file === file).forEach(l => byLine.set(l.line, (byLine.get(l.line) || 0) + l.total));
  const most = d3.max([...byLine.values()]) || 1;
  const numbers = Object.keys(text).map(Number).sort((a, b) => a - b).slice(0, 2000);
  return make("details", {}, make("summary", {}, source.files[file].name), make("table", {class: "listing"}, make("tbody", {}, numbers.map((n, i) =>
    make("tr", {class: i && numbers[i - 1] !== n - 1 ? "gap" : ""}, make("td", {class: "number"}, byLine.has(n) ? count(byLine.get(n)) : ""),
      make("td", {}, byLine.has(n) ? bar(byLine.get(n) / most) : null), make("td", {class: "number quiet"}, String(n)),
      make("td", {}, make("code", {class: "code"}, text[n])))))));
}

// The instructions of nvdisasm, where the page has them.
function instructionDetails(source, filter) {
  const of = (source.instructions || []).filter(filter || (() => true));
  return !of.length ? null : make("details", {}, make("summary", {}, `Instructions (${count(of.length)})`),
    source.kind === "pc" ? sampleTable(source, of) : sassTable(source, of),
    source.instructions_left ? make("p", {class: "quiet"}, `The capture has ${plural(source.instructions_left, "more instruction")}.`) : null);
}

function sourcePanels(filter) {
  return sources.map(source => {
    const lines = filter ? source.lines.filter(filter) : source.lines;
    if (!lines.length) return null;
    const files = [...new Set(lines.map(l => l.file).filter(f => f !== undefined))];
    const lost = source.dropped ? `; ${count(source.dropped)} dropped` : "";
    return panel(source.kind === "pc" ? `Samples of instructions by source line: ${source.file}` : `Instructions counted by source line: ${source.file}`,
      source.kind === "pc" ? make("p", {class: "quiet"}, `${plural(source.total, "sample")}${lost}.`) : null,
      source.kind === "pc" ? sampleTable(source, lines) : sassTable(source, lines), files.map(f => listing(source, f, lines)),
      instructionDetails(source, filter),
      source.files.some(f => f.text) ? null : make("p", {class: "quiet"}, lines.some(l => l.line) ? "The page lacks the text of the lines: name its folder with --source-path FOLDER."
        : "The code has no line information: compile with -lineinfo."),
      source.lines_left ? make("p", {class: "quiet"}, `The capture has ${plural(source.lines_left, "more line")}.`) : null);
  });
}

// ---- the page -----------------------------------------------------------------------------------------------------

function summary(kernel) {
  const cards = [["Time in all", formatTime(kernel.total), percent(kernel.total / data.total)],
    [launchOne, formatTime(kernel.mean), kernel.timed > 1 ? `${formatTime(kernel.least)} to ${formatTime(kernel.greatest)}` : ""],
    [launchTitle, count(kernel.launches), ""]];
  if (shapeOf(kernel)) cards.push(["Grid, block", `${size(kernel.grid)}, ${size(kernel.block)}`, ""]);
  const shown = (data.layout.summary || []).map(s => ({...s, metric: firstKnown(kernel, s.metrics)})).filter(s => s.metric >= 0);
  if (kernel.before) cards.push(["Baseline", formatTime(kernel.before.mean), changeOfTime(kernel.mean, kernel.before.mean)]);
  return make("dl", {class: "cards"}, cards.map(([title, value, note]) => make("div", {}, make("dt", {}, title), make("dd", {}, value, make("small", {}, note)))),
    shown.map(s => make("div", {}, make("dt", {}, s.title), make("dd", {}, valueButton(kernel, s.metric, s.unit === "none" && digits(valueOf(kernel, s.metric)))))));
}

// Reasons for missing charts.
function notShown(kernel) {
  const list = [];
  if (!roofline(kernel, kernels)) list.push(known(kernel, (rooflineLayout.rate || {}).metrics) === 0 ? "The roofline: the kernel does no floating-point operations." : "The roofline lacks counters: metric-config --set roofline plans them.");
  if (!memoryChart(kernel)) list.push("The memory chart lacks counters: metric-config --set memory-workload plans them.");
  if (!stalls(kernel)) list.push("The chart of waiting warps lacks counters: metric-config --set warp-state plans them.");
  return list.map(text => make("p", {class: "quiet"}, text));
}

function kernelPage(kernel) {
  const near = i => kernels[i] ? make("a", {href: `#kernel=${i}`}, i < kernel.index ? "← previous" : "next →") : null;
  const same = l => l.symbol === kernel.function || l.function === kernel.name;
  return make("div", {}, make("p", {class: "tools"}, make("a", {href: "#kernels"}, launchWords[0] === "range" ? "All ranges" : "All kernels"), " ", near(kernel.index - 1), " ", near(kernel.index + 1)),
    make("h2", {class: "name"}, breakable(kernel.short)), kernel.short === kernel.name ? null : make("p", {class: "quiet name"}, kernel.name),
    summary(kernel),
    kernel.used < kernel.launches ? make("p", {class: "quiet"}, `Values are of ${count(kernel.used)} of ${launches(kernel.launches)}, which ${kernel.used === 1 ? "has" : "have"} the most counters.`) : null,
    make("div", {class: "columns"}, panel("Limits", limiterPath(kernel)), panel("Advice", findings(kernel)),
      panel("Roofline", roofline(kernel, kernels)), panel("Memory", memoryChart(kernel)), panel("Why warps waited", stalls(kernel)),
      panel("Not shown", notShown(kernel))),
    sourcePanels(same), panel("All metrics", metricTables(kernel)));
}
