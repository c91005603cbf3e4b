"use strict";
// Charts of a kernel: roofline, memory, stalls. Colours are classes of style.css.

const svg = (width, height, label) => d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`)
  .attr("role", "img").attr("aria-label", label).attr("class", "chart");

// Makes an SVG element a button that explains a value.
function opens(selection, kernel, metric) {
  return selection.attr("class", "opens").attr("tabindex", 0).attr("role", "button")
    .on("click", () => explain(kernel, metric))
    .on("keydown", () => {
      if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
      d3.event.preventDefault();
      explain(kernel, metric);
    });
}

// ---- roofline -----------------------------------------------------------------------------------------------------

const rooflineLayout = (data.layout || {}).roofline || {levels: [], roofs: []};

// A value in a chart, with the mark of its status.
const marked = (kernel, metric, text) => text + statusMarks[statusOf(kernel, metric)];

const known = (kernel, names) => {
  const metric = firstKnown(kernel, names);
  return metric < 0 ? NaN : valueOf(kernel, metric);
};

// The points of a kernel: one for each level of memory that it used.
function rooflinePoints(kernel) {
  const rate = rooflineLayout.rate && known(kernel, rooflineLayout.rate.metrics);
  return rooflineLayout.levels.map((level, i) => ({kernel, level: i, rate, x: known(kernel, level.metrics),
    metric: firstKnown(kernel, level.metrics)})).filter(p => p.x > 0 && p.rate > 0);
}

// Whether at least this share of a kernel's operations has the roof's precision.
function isFor(roof, kernel, share) {
  return known(kernel, roof.when.metrics) >= share * known(kernel, rooflineLayout.work.metrics);
}

// The roofs of the precisions that a kernel uses, and that the kernels around it mostly use. Roofs of equal height become
// one. `own` marks the precision that the kernel uses most.
function rooflineRoofs(kernel, others) {
  const flat = [];
  const work = roof => known(kernel, roof.when.metrics) || 0;
  const most = d3.max(rooflineLayout.roofs, work);
  for (const roof of rooflineLayout.roofs) {
    const rate = known(kernel, roof.metrics), own = most > 0 && work(roof) === most;
    if (!(rate > 0) || !(own || isFor(roof, kernel, 0.01) || others.some(k => isFor(roof, k, 0.5)))) continue;
    const equal = flat.find(r => Math.abs(r.rate / rate - 1) < 0.01);
    if (equal && own) Object.assign(equal, {title: `${roof.title}, ${equal.title}`, own, metric: firstKnown(kernel, roof.metrics)});
    else if (equal) equal.title += `, ${roof.title}`;
    else flat.push({title: roof.title, rate, own, metric: firstKnown(kernel, roof.metrics)});
  }
  return {
    flat: flat.sort((a, b) => b.rate - a.rate),
    slopes: rooflineLayout.levels.map((l, i) => ({title: l.title, level: i, rate: known(kernel, l.peak.metrics),
      metric: firstKnown(kernel, l.peak.metrics)})).filter(r => r.rate > 0),
  };
}

// Scales that hold all points, roofs and ridges.
function rooflineScales(points, roofs, area) {
  const peak = roofs.flat[0].rate;
  const xs = points.map(p => p.x).concat(roofs.slopes.flatMap(s => roofs.flat.map(f => f.rate / s.rate)));
  const ys = points.map(p => p.rate).concat(roofs.flat.map(f => f.rate));
  return {
    x: d3.scaleLog().domain([d3.min(xs) / 3, d3.max(xs) * 6]).range([area.left, area.right]),
    y: d3.scaleLog().domain([Math.max(d3.min(ys) / 3, peak / 1e9), d3.max(ys) * 3]).range([area.bottom, area.top]),
  };
}

function drawRoofs(chart, kernel, roofs, {x, y}, area) {
  const [x0] = x.domain(), [y0] = y.domain(), peak = roofs.flat[0].rate;
  for (const slope of roofs.slopes) {
    const from = Math.max(x0, y0 / slope.rate), ridge = peak / slope.rate;
    if (ridge > from)
      chart.append("line").attr("class", `roof level${slope.level}`).attr("x1", x(from)).attr("y1", y(from * slope.rate)).attr("x2", x(ridge)).attr("y2", y(peak));
  }
  const widest = d3.max(roofs.slopes, s => s.rate);
  let last = 0; // place of the label before
  for (const roof of roofs.flat) {
    chart.append("line").attr("class", roof.own ? "roof own" : "roof").attr("x1", x(Math.max(x0, roof.rate / widest))).attr("y1", y(roof.rate)).attr("x2", area.right).attr("y2", y(roof.rate));
    last = y(roof.rate) - 5 >= last + 17 ? y(roof.rate) - 5 : Math.max(y(roof.rate) + 16, last + 17); // above its line, or below it
    opens(chart.append("g"), kernel, roof.metric).append("text").attr("class", roof.own ? "halo title" : "halo").attr("x", area.right).attr("y", last)
      .attr("text-anchor", "end").text(`${roof.title} ${scaled(roof.rate, "FLOP/s")}`);
  }
}

// The kernel and the other kernels below the roofs of their device; null if the kernel's place is unknown.
function roofline(kernel, others) {
  const points = rooflinePoints(kernel);
  const around = others.filter(k => k !== kernel).map(k => rooflinePoints(k)[0]).filter(p => p && p.level === 0);
  const roofs = points.length ? rooflineRoofs(kernel, around.map(p => p.kernel)) : null;
  if (!roofs || !roofs.flat.length || !roofs.slopes.length) return null;
  const width = 760, height = 400, area = {left: 64, right: width - 16, top: 28, bottom: height - 48};
  const scales = rooflineScales([...points, ...around], roofs, area), {x, y} = scales;
  const chart = svg(width, height, `Roofline: ${kernel.name}`);
  chart.append("g").attr("transform", `translate(0,${area.bottom})`).attr("class", "axis").call(d3.axisBottom(x).ticks(6, "~g"));
  chart.append("g").attr("transform", `translate(${area.left},0)`).attr("class", "axis").call(d3.axisLeft(y).ticks(5, "~s"));
  chart.append("text").attr("class", "label").attr("x", (area.left + area.right) / 2).attr("y", height - 8).attr("text-anchor", "middle").text("FLOP for each byte");
  chart.append("text").attr("class", "label").attr("x", 4).attr("y", 14).text("FLOP/s");
  const mark = (p, own) => chart.append("circle").attr("cx", x(p.x)).attr("cy", y(Math.max(p.rate, y.domain()[0]))).attr("r", own ? 8 - 1.5 * p.level : 4)
    .attr("class", own ? `own level${p.level}` : "other");
  drawRoofs(chart, kernel, roofs, scales, area);
  around.forEach(p => mark(p, false).attr("tabindex", -1).on("click", () => { location.hash = `kernel=${p.kernel.index}`; })
    .append("title").text(`${p.kernel.name}: ${scaled(p.rate, "FLOP/s")}, ${digits(p.x)} FLOP/byte`));
  points.forEach(p => opens(mark(p, true), kernel, p.metric).attr("class", `own opens level${p.level}`)
    .append("title").text(`${rooflineLayout.levels[p.level].title}: ${digits(p.x)} FLOP/byte, ${scaled(p.rate, "FLOP/s")}`));
  return make("figure", {}, chart.node(), make("figcaption", {},
    roofs.slopes.map(s => make("span", {class: `key level${s.level}`}, `● ${s.title} `, valueButton(kernel, s.metric))),
    around.length ? make("span", {class: "key other"}, "● other kernels, by device memory") : null));
}

// ---- memory -------------------------------------------------------------------------------------------------------

// Boxes for memories, and links for the data that moves between them; null if all of it is unknown.
function memoryChart(kernel) {
  const layout = (data.layout || {}).memory;
  if (!layout) return null;
  const links = layout.links.map(l => ({...l, metric: firstKnown(kernel, l.metrics)})).filter(l => l.metric >= 0);
  if (!links.length) return null;
  const used = new Set(links.flatMap(l => [l.from, l.to]));
  const box = {width: 150, height: 66, stepX: 230, stepY: 110, left: 6, top: 6};
  const nodes = new Map(layout.nodes.filter(n => used.has(n.id)).map(n => [n.id, {...n, x: box.left + n.x * box.stepX, y: box.top + n.y * box.stepY}]));
  const rows = [...nodes.values()].map(n => n.y), above = d3.min(rows) - box.top; // rows without a known value are left out
  for (const node of nodes.values()) node.y -= above;
  const width = box.left * 2 + 3 * box.stepX + box.width, height = box.top * 2 + d3.max(rows) - d3.min(rows) + box.height;
  const chart = svg(width, height, `Memory: ${kernel.name}`).attr("class", "chart memory");
  chart.append("defs").append("marker").attr("id", "arrow").attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
    .attr("markerWidth", 8).attr("markerHeight", 8).attr("markerUnits", "userSpaceOnUse").attr("orient", "auto").append("path").attr("d", "M0,0L8,4L0,8z").attr("class", "head");
  const most = d3.max(links, l => bytesOf(kernel, l)) || 1;
  for (const link of links) drawLink(chart, kernel, link, nodes, links, box, most);
  for (const node of nodes.values()) drawNode(chart, kernel, node, box);
  return make("figure", {}, chart.node());
}

// Bytes that a link moves, if known. A sector has 32 bytes.
function bytesOf(kernel, link) {
  const unit = unitText(metrics[link.metric].unit);
  return valueOf(kernel, link.metric) * (unit === "B" ? 1 : unit === "sectors" ? 32 : 0);
}

function drawLink(chart, kernel, link, nodes, links, box, most) {
  const a = nodes.get(link.from), b = nodes.get(link.to);
  const value = valueOf(kernel, link.metric), bytes = bytesOf(kernel, link), unit = unitText(metrics[link.metric].unit);
  const both = links.some(l => l.from === link.to && l.to === link.from);
  const right = a.x < b.x, side = both ? (right ? 12 : -12) : 0;
  const [from, to] = right ? [a.x + box.width, b.x - 2] : [a.x, b.x + box.width + 2];
  const y1 = a.y + box.height / 2 + side, y2 = b.y + box.height / 2 + side, middle = (from + to) / 2;
  const group = opens(chart.append("g"), kernel, link.metric);
  group.append("title").text(`${metrics[link.metric].name} = ${value}`);
  group.append("path").attr("class", value > 0 ? "link" : "link none").attr("stroke-width", value > 0 ? 1.5 + 7 * bytes / most : 1)
    .attr("marker-end", "url(#arrow)").attr("d", `M${from},${y1}C${middle},${y1} ${middle},${y2} ${to},${y2}`);
  const straight = y1 === y2;
  group.append("text").attr("class", "halo").attr("x", middle)
    .attr("y", straight ? y1 + (side < 0 ? -9 : 22) : (y1 + y2) / 2 + 5).attr("text-anchor", "middle")
    .text(marked(kernel, link.metric, /^(B|sectors)$/.test(unit) ? scaled(bytes, "B") : scaled(value, unit)));
}

function drawNode(chart, kernel, node, box) {
  const group = chart.append("g").attr("transform", `translate(${node.x},${node.y})`);
  const rate = (node.rates || []).map(r => ({...r, metric: firstKnown(kernel, r.metrics)})).find(r => r.metric >= 0);
  const share = rate && metrics[rate.metric].unit === "%";
  group.append("rect").attr("class", "node").attr("width", box.width).attr("height", box.height).attr("rx", 6);
  if (share)
    group.append("rect").attr("class", "part").attr("x", 2).attr("y", box.height - 7).attr("height", 5).attr("rx", 2)
      .attr("width", (box.width - 4) * Math.max(0, Math.min(1, valueOf(kernel, rate.metric) / 100)));
  group.append("text").attr("class", "title").attr("x", box.width / 2).attr("y", rate ? 25 : 39).attr("text-anchor", "middle").text(node.title);
  if (rate)
    opens(group.append("g"), kernel, rate.metric).append("text").attr("x", box.width / 2).attr("y", 47).attr("text-anchor", "middle")
      .text(`${marked(kernel, rate.metric, share ? percentText(valueOf(kernel, rate.metric)) : scaled(valueOf(kernel, rate.metric), ""))} ${rate.title}`);
}

// ---- stalls -------------------------------------------------------------------------------------------------------

function matcher(pattern) {
  const parts = pattern.split("*").map(text => text.replace(/[.\\+?^${}()|[\]]/g, "\\$&"));
  return new RegExp(`^${parts.join("(.*)")}$`);
}

// Reasons why warps waited, the most frequent first; null if the capture has none.
function stalls(kernel) {
  for (const kind of (data.layout || {}).stalls || []) {
    const fits = matcher(kind.pattern);
    const found = metrics.map((m, i) => ({metric: i, match: fits.exec(m.name)}))
      .filter(f => f.match && Number.isFinite(valueOf(kernel, f.metric)) && !f.match[1].includes("not_issued"));
    const total = d3.sum(found, f => valueOf(kernel, f.metric));
    if (found.length < 2 || !total) continue;
    found.sort((a, b) => isImplausible(kernel, a.metric) - isImplausible(kernel, b.metric) || valueOf(kernel, b.metric) - valueOf(kernel, a.metric));
    const shown = found.filter(f => valueOf(kernel, f.metric) / total >= 0.005);
    return make("table", {class: "bars"}, make("caption", {}, kind.title), make("tbody", {}, shown.map(f =>
      make("tr", {}, make("th", {scope: "row", title: metrics[f.metric].about}, f.match[1].replace(/_/g, " ")),
        make("td", {}, bar(valueOf(kernel, f.metric) / total)),
        make("td", {class: "number"}, valueButton(kernel, f.metric, percent(valueOf(kernel, f.metric) / total)))))));
  }
  return null;
}
