"use strict";
// Pictures of the CUDA graphs of a trace: a node below the nodes that it waits for.

const graphBox = {width: 200, height: 40, across: 16, down: 28};

// The row of each node: below all that it waits for. Nodes of a circle, which only a damaged file has, are in the first row.
function graphRows(graph) {
  const next = graph.nodes.map(() => []), waits = graph.nodes.map(() => 0), row = graph.nodes.map(() => 0);
  graph.edges.forEach(([from, to]) => { next[from].push(to); waits[to]++; });
  const ready = waits.flatMap((n, i) => n ? [] : [i]);
  for (let at = 0; at < ready.length; at++)
    for (const to of next[ready[at]]) {
      row[to] = Math.max(row[to], row[ready[at]] + 1);
      if (!--waits[to]) ready.push(to);
    }
  return row;
}

// The place of each node. Nodes of a row stand in the order of the middles of the nodes that they wait for.
function graphPlaces(graph) {
  const row = graphRows(graph), rows = [], from = graph.nodes.map(() => []), x = graph.nodes.map(() => 0);
  graph.edges.forEach(([a, b]) => from[b].push(a));
  row.forEach((r, i) => (rows[r] = rows[r] || []).push(i));
  for (const list of rows) {
    const middle = new Map(list.map(i => [i, d3.mean(from[i], f => x[f]) || 0]));
    list.sort((a, b) => middle.get(a) - middle.get(b) || a - b);
    list.forEach((i, k) => { x[i] = k - (list.length - 1) / 2; });
  }
  const wide = d3.max(rows, list => list.length), {width, height, across, down} = graphBox;
  return {width: wide * (width + across), height: rows.length * (height + down),
    places: graph.nodes.map((_, i) => [(x[i] + wide / 2 - 0.5) * (width + across) + across / 2, row[i] * (height + down) + down / 2])};
}

const nodeTitle = ([type, , short]) => short || type;
const nodeTime = (graph, [type, , short, runs, ns]) => [short && type !== "kernel" ? type : "",
  runs ? `${formatTime(ns / runs)}${runs > 1 ? ` × ${count(runs)}` : ""}` : graph.runs ? "not recorded" : ""].filter(Boolean).join(", ");

function graphPicture(graph) {
  const {width, height, places} = graphPlaces(graph), box = graphBox, most = d3.max(graph.nodes, n => n[3] ? n[4] / n[3] : 0) || 1;
  const picture = svg(width, height, `CUDA graph ${graph.graph}: ${plural(graph.nodes.length, "node")}`).attr("width", width).attr("height", height).attr("class", "graph");
  for (const [from, to] of graph.edges) {
    const [x1, y1] = places[from], [x2, y2] = places[to], a = y1 + box.height, middle = (a + y2) / 2, half = box.width / 2;
    picture.append("path").attr("class", "edge").attr("d", `M${x1 + half},${a}C${x1 + half},${middle} ${x2 + half},${middle} ${x2 + half},${y2}`);
  }
  graph.nodes.forEach((node, i) => {
    const [x, y] = places[i], cell = picture.append("g").attr("transform", `translate(${x},${y})`), title = nodeTitle(node);
    cell.append("title").text([node[0], node[1], nodeTime(graph, node)].filter(Boolean).join("\n"));
    cell.append("rect").attr("class", "node").attr("width", box.width).attr("height", box.height).attr("rx", 4);
    cell.append("rect").attr("class", "load").attr("y", box.height - 4).attr("height", 4).attr("width", node[3] ? box.width * node[4] / node[3] / most : 0);
    cell.append("text").attr("x", 8).attr("y", 16).text(title.length > 24 ? `${title.slice(0, 23)}…` : title);
    cell.append("text").attr("class", "quiet").attr("x", 8).attr("y", 31).text(nodeTime(graph, node));
  });
  return make("div", {class: "graphs"}, picture.node());
}

function graphsPage() {
  return make("div", {}, traces.filter(t => t.graphs).map(trace => panel(`CUDA graphs: ${trace.file}`,
    make("p", {class: "quiet"}, "A node waits for the nodes above it. Times are means of its launches, and bars compare them within a graph."),
    trace.graphs.map((g, i) => make("details", {open: i < 3}, make("summary", {}, `Graph ${count(g.graph)}: ${plural(g.nodes.length + g.left, "node")}${g.runs ? `, launched ${plural(g.runs, "time")}, ${formatTime(g.ns)}` : ""}`),
      graphPicture(g), g.left ? make("p", {class: "quiet"}, `${plural(g.left, "more node")} of this graph.`) : null)),
    trace.graphs_left ? make("p", {class: "quiet"}, `The trace has ${plural(trace.graphs_left, "more graph")} with less time.`) : null)));
}
