"use strict";
// The parts of the page. location.hash names the visible part, so that the browser's Back works.

const tabs = [];

// ---- at a glance --------------------------------------------------------------------------------------------------

const launchCount = d3.sum(kernels, k => k.launches) + (data.launches_left || 0);
const mainCapture = data.captures.find(c => c.profiler === "range") || data.captures[0];

function deviceNames() {
  const names = new Map();
  data.captures.forEach(c => c.devices.forEach(d => {
    const name = d.attributes.name || c.chip;
    names.set(name, Math.max(names.get(name) || 0, new Set(c.devices.filter(e => (e.attributes.name || c.chip) === name)
      .map(({device, attributes: a}) => a.pci ? `${a.host || ""} ${a.pci}` : device)).size));
  }));
  return [...names].map(([name, n]) => n > 1 ? `${n} × ${name}` : name).join(", ");
}

function glance() {
  const cards = [["Device", deviceNames(), mainCapture.chip]];
  if (kernels.length) {
    cards.push(["GPU time", formatTime(data.total), data.total_before ? changeOfTime(data.total, data.total_before) : "of all kernels"],
      [launchWords[0] === "range" ? "Names" : "Kernels", count(data.all_kernels), ""], [launchTitle, count(launchCount), ""], ["Passes", count(mainCapture.passes), ""]);
  }
  const pm = d3.sum(data.captures, c => c.pm ? c.pm.samples : 0), pc = d3.sum(sources.filter(s => s.kind === "pc"), s => s.total);
  traces.forEach(t => cards.push(["Traced", formatTime(t.span), plural(t.events, "event")]));
  if (pm) cards.push(["Samples over time", count(pm), ""]);
  if (pc) cards.push(["Samples of instructions", count(pc), ""]);
  return make("dl", {class: "cards"}, cards.map(([title, value, note]) => make("div", {}, make("dt", {}, title), make("dd", {}, value, make("small", {}, note)))));
}

// Findings of all kernels, by saved time.
function topFindings() {
  const list = kernels.flatMap(k => (k.advice ? k.advice.findings : []).filter(f => f.gain > 0 && !f.implausible).map(f => ({kernel: k, f, saved: f.gain * k.total})))
    .filter(x => Number.isFinite(x.saved)).sort((a, b) => b.saved - a.saved);
  if (!list.length) return !kernels.length ? null : make("p", {class: "quiet"}, kernels.some(k => k.advice && k.advice.limiter)
    ? "No rule found a saving above 5 % of a kernel's time." : "The capture lacks the counters that the rules need: metric-config --for-advice plans them.");
  return sortableTable({label: "findings", rows: list, first: 8, open: x => { location.hash = `kernel=${x.kernel.index}`; }, columns: [
    {title: "Saves", number: true, value: x => x.saved, cell: x => formatTime(x.saved)},
    {title: "Of all time", number: true, value: x => x.saved / data.total, cell: x => shareCell(x.saved / data.total, list[0].saved / data.total)},
    {title: "Finding", wide: true, value: x => x.f.title, cell: x => make("span", {}, make("strong", {}, x.f.rule), " ", make("small", {}, x.f.title))},
    {title: "Kernel", wide: true, value: x => x.kernel.name, cell: x => nameCell(x.kernel)},
  ]});
}

// The losses that a capture records.
function lacks(c) {
  const list = [], was = n => n === 1 ? "was" : "were";
  const dropped = {range: "launch or range|launches or ranges|not collected", pm: "sample|samples|lost", pc: "sample|samples|dropped", sass: "record|records|dropped", trace: "record|records|lost"}[c.profiler];
  if (!c.complete) list.push("it is incomplete: it lacks its end, or a part of it is damaged");
  if (c.dropped) {
    const [one, many, how] = dropped.split("|");
    list.push(`${count(c.dropped)} ${c.dropped === 1 ? one : many} ${was(c.dropped)} ${how}`);
  }
  if (c.pm && c.pm.launches_dropped) list.push(`${count(c.pm.launches_dropped)} ${c.pm.launches_dropped === 1 ? "launch" : "launches"} ${was(c.pm.launches_dropped)} not recorded`);
  const said = new Set(c.devices.flatMap(({attributes: a}) => [a.simulated === "yes" && "its GPU is simulated, its numbers are made up",
    a.kernels_not_counted && `kernels were not counted: ${a.kernels_not_counted}`, a.counted_until && `it was counted only until ${a.counted_until}`,
    a.filter && `it was captured with ${a.filter}, which left launches out`,
    a.sampled_ranges && `it has samples only of user ranges with names that match ${a.sampled_ranges}`].filter(Boolean)));
  for (const {device, clocks} of c.devices) for (const {moved, text} of clocks || []) if (moved) list.push(`device ${device}: ${text}`);
  if (c.pm && c.pm.launches_untimed) list.push(`the times of ${count(c.pm.launches_untimed)} ${c.pm.launches_untimed === 1 ? "launch" : "launches"} were not collected`);
  return [...list, ...said].map(text => `${c.source}: ${text}.`);
}

// Unusual ways in which launches were counted.
const tellings = {
  once: (n, value) => `${n} counted in one pass only (${value}): counters of other passes come from similar launches, or are missing.`,
  scope: (n, value) => value === "shared device" ? `${n} counted for the whole device while another program used it: its work may be counted, too.` : `${n} counted for the whole device, not for the program alone.`,
  graphs: (n, value) => `${n} counted with CUDA graphs in them (${value}): metrics that need patched code miss the kernels of graphs.`,
  runs: (n, value) => `${n} found in ${value} runs of the program only.`,
};

function notices() {
  const list = data.captures.flatMap(lacks), all = (data.told || []).filter(t => Object.keys(tellings).includes(t.key));
  if (data.unwanted) list.push(`${count(data.unwanted)} of the ${launches(data.unwanted + launchCount)} in ${mainCapture.source} ${data.unwanted === 1 ? "is" : "are"} left out, by --range, --kernel or --exclude: times and shares are of the others.`);
  if (data.untimed === launchCount && launchCount) list.push(`No ${launchWords[0]} has a time.`);
  else if (data.untimed) list.push(`${count(data.untimed)} of ${launches(launchCount)} ${data.untimed === 1 ? "has" : "have"} no time: totals, shares and means are of the others.`);
  list.push(...all.map(t => tellings[t.key](`${launches(t.ranges)} ${t.ranges === 1 ? "was" : "were"}`, t.value)));
  if (data.launches_left) list.push(`This page has ${count(kernels.length)} of ${count(data.all_kernels)} kernels, with ${percent(data.shown / data.total)} of the time; ` +
    (data.hdf5 ? `${data.hdf5} has every launch.` : `"metric-eval ${mainCapture.source} -o all.h5" writes every launch to an HDF5 file.`));
  else if (kernels.some(k => k.occurrences)) list.push("Values are multiplexed: each launch was counted in one pass, and a value is the mean of the launches in its pass.");
  else if (launchCount > kernels.length && kernels.length) list.push(`Values are means over the ${launchWords[1]} of a ${launchWords[0] === "range" ? "name" : "kernel"}; ` +
    (data.hdf5 ? `${data.hdf5} has the values of every ${launchWords[0]}.` : `"metric-eval ${mainCapture.source} -o all.h5" writes the values of every ${launchWords[0]} to an HDF5 file.`));
  if (data.baseline) {
    if (data.baseline.chip !== mainCapture.chip) list.push(`The baseline is of another chip: ${data.baseline.chip}.`);
    const devices = c => [...new Set(c.devices.map(d => d.attributes.name || ""))].sort().join(", ");
    if (devices(data.baseline) !== devices(mainCapture)) list.push(`The baseline ran on another device: ${devices(data.baseline)}.`);
    if (data.baseline.database !== mainCapture.database) list.push("The baseline was planned with another version of the database.");
    const before = d3.sum(data.gone || [], k => k.total);
    if (data.gone) list.push(`Kernels of the baseline that ran no more: ${data.gone.slice(0, 8).map(k => k.short).join(", ")}${data.gone.length > 8 ? ", ..." : ""}${before ? ` (${formatTime(before)})` : ""}.`);
  }
  return list.length ? make("ul", {class: "notices"}, list.map(text => make("li", {}, text))) : null;
}

function overview() {
  const first = kernels.find(k => rooflinePoints(k).length);
  return make("div", {}, glance(), kernels.length ? make("p", {class: "quiet"}, "The capture has counted work on the GPU: no time of the CPU, no copies, and no waiting between launches.") : null, notices(), panel("Greatest savings", topFindings()),
    panel("Where the time goes", shareBar()),
    first ? panel(`Roofline: ${first.short}${kernels.length > 1 ? " and the other kernels" : ""}`, roofline(first, kernels)) : null,
    traces.map(traceSummary), !kernels.length ? sourcePanels() : null, !kernels.length && !traces.length && timelines.length ? timelinePage() : null);
}

// Families of kernels as parts of one bar.
function shareBar() {
  const shown = groupsBy("family").filter(g => g.total / data.total >= 0.01).slice(0, 12);
  if (!shown.length) return null;
  const part = (g, i) => {
    const one = g.parts.length === 1 && g.parts[0].kernel;
    const link = make("a", {href: one ? `#kernel=${one.index}` : `#family=${g.index}`, class: `share c${i % 7 + 1}`,
      title: `${one ? one.name : `${g.name}, ${count(g.parts.length)} kernels`}: ${formatTime(g.total)}, ${percent(g.total / data.total)}`}, make("span", {}, one ? one.short : g.name));
    link.style.flexGrow = String(g.total / data.total * 1000);
    return link;
  };
  const left = 1 - d3.sum(shown, g => g.total) / data.total;
  const rest = make("span", {class: "share rest", title: "other kernels"}, left > 0.05 ? "others" : "");
  rest.style.flexGrow = String(left * 1000);
  return make("div", {class: "shares"}, shown.map(part), left > 0.001 ? rest : null);
}

// ---- kernels ------------------------------------------------------------------------------------------------------

// "roof > dram" becomes "roof: the bandwidth of device memory".
function limitedBy(kernel) {
  const a = kernel.advice, parts = (a && a.limiter || "").split(" > ");
  if (parts.length < 2) return parts[0];
  const {title} = a.limiter_path[a.limiter_path.length - 1];
  return `${parts[0]}: ${title[0].toLowerCase()}${title.slice(1)}`;
}

// The finding with the greatest saving of a kernel, as in the lists of metric-eval.
const found = k => k.advice && k.advice.findings.find(f => f.rule === k.advice.first_rule);
const foundCell = f => make("span", {}, make("strong", {}, f.rule), " ", gainText(f), make("small", {class: "under"}, f.title));

// Ways to group kernels: each group has parts {kernel, launches, total}. `kernel` is undefined if the page leaves it out.
const groupings = {
  family: {title: "family", one: "Family", make: () => {
    const families = new Map();
    for (const k of kernels) {
      if (!families.has(k.family)) families.set(k.family, {name: k.family, parts: []});
      families.get(k.family).parts.push({kernel: k, launches: k.launches, total: k.total, timed: k.timed});
    }
    return [...families.values()];
  }},
  nvtx: {title: "NVTX range", one: "NVTX range", make: () => (data.nvtx || []).map(n => ({name: n.path || "(no NVTX range)",
    parts: n.kernels.map(([kernel, launches, total, timed]) => ({kernel: kernels[kernel], launches, total: timed ? total : NaN, timed}))}))},
};

// The groups of one kind, the longest first, made once.
function groupsBy(kind) {
  const grouping = groupings[kind];
  if (!grouping.groups) {
    grouping.groups = grouping.make();
    grouping.groups.forEach(g => { g.total = d3.sum(g.parts, p => p.total) || NaN; g.launches = d3.sum(g.parts, p => p.launches); g.mean = g.total / d3.sum(g.parts, p => p.timed); });
    grouping.groups.sort((a, b) => (b.total || 0) - (a.total || 0)).forEach((g, i) => { g.index = i; });
  }
  return grouping.groups;
}

// Adds up the kernels' times by text, weighted by share; returns the text with most time: [text, time].
function weigh(parts, list) {
  const sums = new Map();
  parts.filter(p => p.kernel).forEach(p => list(p.kernel).forEach(([text, share]) => sums.set(text, (sums.get(text) || 0) + share * (p.total || 0))));
  return [...sums].sort((a, b) => b[1] - a[1])[0];
}

// The current list of kernels, and links to the other lists.
function listings(kind, group) {
  const link = (id, title) => make("a", {href: `#${id}`, "aria-current": !group && id === kind ? "page" : null}, title);
  const kinds = [["kernels", launchWords[0] === "range" ? "name" : "kernel"], ...Object.entries(groupings).filter(([id]) => id === "nvtx" ? data.nvtx : launchWords[0] === "launch").map(([id, g]) => [id, g.title])];
  return make("p", {class: "tools by"}, "By ", kinds.map(([id, title]) => link(id, title)),
    group ? make("span", {}, ` ${groupings[kind].one} `, make("strong", {}, breakable(group.name))) : null);
}

function groupTable(kind) {
  const groups = groupsBy(kind), greatest = groups.length ? groups[0].total / data.total : 1;
  const limiter = g => weigh(g.parts, k => limitedBy(k) ? [[limitedBy(k), 1]] : []);
  const saved = g => weigh(g.parts, k => k.advice ? k.advice.findings.filter(f => f.gain > 0 && !f.implausible).map(f => [f.rule, f.gain]) : []);
  const columns = [
    {title: "Time", number: true, value: g => g.total, cell: g => formatTime(g.total)},
    {title: "Share", number: true, value: g => g.total / data.total, cell: g => shareCell(g.total / data.total, greatest)},
    {title: "Kernels", number: true, value: g => g.parts.length, cell: g => count(g.parts.length)},
    {title: launchTitle, number: true, value: g => g.launches, cell: g => count(g.launches)},
    {title: launchOne, number: true, value: g => g.mean, cell: g => formatTime(g.mean)},
  ];
  if (kernels.some(k => k.advice && k.advice.limiter)) columns.push({title: "Limited by", wide: true, hint: "the limit of most of the group's time", value: g => (limiter(g) || [""])[0],
    cell: g => limiter(g) ? make("span", {}, limiter(g)[0], limiter(g)[1] < 0.995 * g.total ? make("small", {class: "whole"}, ` ${percent(limiter(g)[1] / g.total)} of its time`) : null) : missing},
  {title: "First finding", wide: true, hint: "the rule with the greatest saving, summed over the group's kernels", value: g => saved(g) ? -saved(g)[1] / g.total : NaN,
    cell: g => saved(g) ? make("span", {}, make("strong", {}, saved(g)[0]), " ", gainText({gain: saved(g)[1] / g.total}, "of the group's time")) : missing});
  columns.push({title: groupings[kind].one, wide: true, value: g => g.name, cell: g => make("a", {href: `#${kind}=${g.index}`, tabIndex: -1}, breakable(g.name))});
  return make("div", {}, notices(), listings(kind), sortableTable({label: "groups of kernels", rows: groups, columns, search: true, first: 100, open: g => { location.hash = `${kind}=${g.index}`; }}),
    kind === "nvtx" && data.nvtx_left ? make("p", {class: "quiet"}, `The capture has ${plural(data.nvtx_left, "more NVTX range")}.`) : null);
}

// The kernels of a group, with their launches and time in the group.
function groupPage(kind, group) {
  const inside = group.parts.filter(p => p.kernel).map(p => ({...p.kernel, launches: p.launches, total: p.total}));
  const hidden = d3.sum(group.parts.filter(p => !p.kernel), p => p.launches);
  return make("div", {}, listings(kind, group), make("p", {class: "quiet"}, group.total ? `${formatTime(group.total)} in ${launches(group.launches)}, ${percent(group.total / data.total)} of all time.` : `${launches(group.launches)} without a time.`,
    ` Shares are of the group's time; time of a launch, limits and savings are means of all launches of a kernel.`),
  kernelList(inside, group.total), hidden ? make("p", {class: "quiet"}, `${launches(hidden)} in it ${hidden === 1 ? "belongs" : "belong"} to kernels that this page leaves out.`) : null);
}

const kernelTable = () => make("div", {}, notices(), listings("kernels"), kernelList(kernels, data.total));

function kernelList(kernels, whole) {
  const greatest = d3.max(kernels, k => k.total / whole);
  const columns = [
    {title: "Time", number: true, value: k => k.total, cell: k => formatTime(k.total)},
    {title: "Share", number: true, value: k => k.total / whole, cell: k => shareCell(k.total / whole, greatest)},
    {title: launchTitle, number: true, value: k => k.launches, cell: k => count(k.launches)},
    {title: launchOne, number: true, value: k => k.mean, cell: k => formatTime(k.mean)},
  ];
  if (kernels.some(k => k.launches > 1)) columns.push({title: "Spread", number: true, hint: "standard deviation over mean", value: k => k.launches > 1 ? k.deviation / k.mean : NaN, cell: k => k.launches > 1 ? percent(k.deviation / k.mean) : ""});
  if (data.baseline) columns.push({title: "Baseline", number: true, value: k => k.before ? k.mean / k.before.mean : NaN,
    cell: k => k.before ? make("span", {}, formatTime(k.before.mean), " ", changeOfTime(k.mean, k.before.mean)) : "new"});
  if (kernels.some(k => k.advice && k.advice.limiter)) columns.push({title: "Limited by", wide: true, value: limitedBy, text: k => k.advice && k.advice.limiter, cell: k =>
      make("span", {title: k.advice ? k.advice.limiter_path.map(s => s.title).join(" > ") : ""}, limitedBy(k))},
    {title: "First finding", wide: true, hint: "the finding with the greatest saving", value: k => found(k) ? -found(k).gain : NaN,
      cell: k => found(k) ? foundCell(found(k)) : missing});
  columns.push({title: launchWords[0] === "range" ? "Range" : "Kernel", wide: true, value: k => k.name, cell: k => make("span", {title: k.name},
    make("a", {href: `#kernel=${k.index}`, tabIndex: -1}, breakable(k.short)), shapeOf(k))});
  return sortableTable({label: "kernels", rows: kernels, columns, search: true, first: 100, open: k => { location.hash = `kernel=${k.index}`; }});
}

// ---- timeline, files ----------------------------------------------------------------------------------------------

function timelinePage() {
  const ranges = timelines.find(t => !t.series);
  return make("div", {}, traces.map(drawTrace), timelines.filter(t => !placeInTrace(t)).map(t => drawTimeline(t, t === ranges ? undefined : ranges)));
}

// The connections of a capture's GPUs, in the words of nvidia-smi topo; nothing where it has less than two, or where a
// capture without names of hosts has GPUs of several.
function links(c) {
  const known = c.devices.filter(d => d.attributes.peers);
  const link = ({attributes: from}, {attributes: to}) => from.host === to.host && from.peers.split(", ").map(p => p.split(" ")).find(([pci]) => pci === to.pci);
  if (known.length < 2 || known.some(({attributes: a}) => !a.host) && new Set(known.map(d => d.attributes.pci)).size < known.length) return null;
  return make("table", {class: "links"}, make("thead", {}, make("tr", {}, make("th", {}), known.map(d => make("th", {scope: "col"}, `GPU ${d.device}`)))),
    make("tbody", {}, known.map(from => make("tr", {}, make("th", {scope: "row"}, `GPU ${from.device}`), known.map(to => {
      const [, kind, ...can] = link(from, to) || [];
      return make("td", {title: kind ? can.join(", ") || "no access to the other's memory" : ""}, from === to ? "-" : kind || "?");
    })))));
}

function files() {
  const rows = c => [["Kind", {range: "ranges", pm: "samples over time", trace: "trace", pc: "samples of instructions", sass: "instructions counted"}[c.profiler] || c.profiler],
    ["Chip", c.chip], ["Devices", c.devices.map(d => d.attributes.name || "").join(", ")], ["Began", c.created], ["Producer", c.producer],
    ["Clocks", c.devices.flatMap(d => (d.clocks || []).map(k => `device ${d.device}: ${k.text}`)).join("; ")],
    ["Driver", [...new Set(c.devices.map(d => d.attributes.driver || ""))].join(", ")], ["Links", links(c)],
    ["Passes", c.passes], ["Counters", c.counters], ["Ranges", c.ranges], ["End", !c.complete ? "incomplete" : c.end === "no program" ? "complete, not at the end of a program" : `complete, the program ${c.end} ${c.code}`]];
  const table = (title, c) => panel(title, make("table", {class: "parts"}, make("tbody", {}, rows(c).filter(r => r[1]).map(([a, b]) =>
    make("tr", {}, make("th", {scope: "row"}, a), make("td", {}, b instanceof Node ? b : String(b)))))));
  return make("div", {}, data.captures.map(c => table(c.source, c)), data.baseline ? table(`Baseline: ${data.baseline.source}`, data.baseline) : null,
    panel("This page", make("p", {}, `Written by Counterworks ${data.version}. It needs no network and sends nothing.`),
      make("pre", {class: "quiet"}, byId("licence").textContent.trim())));
}

// ---- parts --------------------------------------------------------------------------------------------------------

tabs.push({id: "overview", title: "At a glance", make: job ? jobOverview : overview});
if (job) tabs.push({id: "job", title: jobMany, make: jobTable}, {id: "rank", title: "Ranks", make: rankTable});
if (kernels.length) tabs.push({id: "kernels", title: "Kernels", make: kernelTable});
if (sources.length) tabs.push({id: "source", title: "Source lines", make: () => make("div", {}, sourcePanels())});
if (timelines.length || traces.length) tabs.push({id: "timeline", title: "Timeline", make: timelinePage});
if (traces.some(t => t.graphs)) tabs.push({id: "graphs", title: "CUDA graphs", make: graphsPage});
tabs.push({id: "files", title: "Files", make: files});

const made = new Map(); // each part is made at its first use

// The characters of "%3C"; bytes that are none stay as they are, as in a search for "100%".
function decoded(escapes) {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

function show() {
  // "#kernels", "#kernel=3", "#family", "#family=3", "#kernel=3/METRIC" (explains a value), "#job=3" and
  // "#rank=3" of a job, or "#timeline=0/FROM,TO,WORDS": a span of a trace in ns, and words to search for
  const [, id, number, metric] = /^#?(\w*)(?:=(\d+)(?:\/(.*))?)?/.exec(location.hash.replace(/(%[\da-f]{2})+/gi, decoded));
  const kernel = id === "kernel" ? kernels[Number(number)] : null;
  const kind = kernels.length && Object.keys(groupings).includes(id) ? id : null, group = kind && number ? groupsBy(kind)[Number(number)] : null;
  const ofJob = number === undefined ? undefined : {job: jobKernels, rank: jobRanks}[id]?.[Number(number)];
  const tab = tabs.find(t => t.id === (kernel || kind ? "kernels" : id)) || tabs[0];
  const key = kernel ? `kernel=${kernel.index}` : group ? `${kind}=${group.index}` : ofJob ? `${id}=${number}` : kind || tab.id;
  if (!made.has(key)) made.set(key, kernel ? kernelPage(kernel) : group ? groupPage(kind, group) : kind ? groupTable(kind) : ofJob ? (id === "job" ? jobKernelPage : rankPage)(ofJob) : tab.make());
  byId("main").replaceChildren(made.get(key));
  for (const t of tabs) t.element.setAttribute("aria-current", t === tab ? "page" : "false");
  document.title = `${kernel ? kernel.short : ofJob ? ofJob.short || `Rank ${ofJob.number}` : tab.title} – ${data.title}`;
  window.scrollTo(0, 0);
  if (byId("explain").open) byId("explain").close();
  if (kernel && metricByName.has(metric)) explain(kernel, metricByName.get(metric));
  if (id === "timeline" && traces[Number(number)] && metric) goToSpan(traces[Number(number)], metric);
}

function start() {
  byId("title").textContent = data.title;
  byId("subtitle").textContent = [deviceNames(), ...data.captures.slice(1).map(c => c.source), data.baseline && `compared with ${data.baseline.source}`].filter(Boolean).join(" · ");
  for (const t of tabs) {
    t.element = make("a", {href: `#${t.id}`, class: "tab"}, t.title);
    byId("tabs").append(t.element);
  }
  byId("tabs").addEventListener("keydown", event => {
    const to = {ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling"}[event.key];
    if (to && event.target[to]) event.target[to].focus();
  });
  byId("footer").append(make("p", {class: "quiet"}, `Counterworks ${data.version}`));
  window.addEventListener("hashchange", show);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("main details").forEach(d => { d.open = true; });
    document.querySelectorAll("main .words button.more").forEach(button => button.click());
  });
  show();
}

start();
