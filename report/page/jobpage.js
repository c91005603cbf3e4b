"use strict";
// The ranks of a parallel job beside one another.

const job = read("job");

// Names for the elements of the page's arrays (report/report.c).
const spreadOf =
    ([ ranks, least, lower, median, upper, greatest, leastRank, greatestRank, imbalance, outliers, leftOut ]) =>
        ({ranks, least, lower, median, upper, greatest, leastRank, greatestRank, imbalance, outliers, leftOut});
const jobRanks = job ? job.ranks.map(([number, host, pci, launches, total, waits, clock], index) =>
  ({index, number, host, pci, launches, total: total ?? NaN, waits: waits ?? NaN, clock, work: (total ?? NaN) - (waits ?? 0), slow: []})) : [];
const jobKernels = job ? job.kernels.map((k, index) => ({...k, total: k.total ?? NaN, index, spread: spreadOf(k.time), metrics: k.spreads.map(spreadOf)})) : [];
const slowRanks = job ? job.slow.map(([rank, kernel, slower, lost, text]) => ({rank: jobRanks[rank], kernel: jobKernels[kernel], slower, lost, text})) : [];
slowRanks.forEach(s => s.rank.slow.push(s));

const rankCell = index => make("a", {href: `#rank=${index}`, title: jobRanks[index].host}, `rank ${jobRanks[index].number}`);
const clockText = mhz => mhz === null ? missing : `${digits(mhz)} MHz`;
const [jobOne, jobMany] = {kernel: ["Kernel", "Kernels"], family: ["Family", "Families"], "NVTX range": ["NVTX range", "NVTX ranges"]}[job ? job.by : "kernel"];

// A chart of one value by rank. If there are more ranks than columns, a column is dark up to its least rank, and light up to
// its greatest. `mark` is a rank's index.
function chartOfRanks(values, text, mark) {
  const width = 1000, height = 150, left = 84, bottom = 22, known = values.filter(Number.isFinite);
  if (!known.length) return make("p", {class: "quiet"}, "No rank has a value.");
  const columns = Math.min(values.length, width - left), x = d3.scaleLinear().domain([0, columns]).range([left, width]);
  const y = d3.scaleLinear().domain([0, d3.max(known) || 1]).nice().range([height - bottom, 8]);
  const chart = svg(width, height, "a value by rank").attr("class", "chart whole");
  const first = i => Math.floor(i * values.length / columns);
  for (let i = 0; i < columns; i++) {
    const inside = d3.range(first(i), first(i + 1)).filter(r => Number.isFinite(values[r]));
    if (!inside.length) continue;
    const most = inside.reduce((a, b) => values[b] > values[a] ? b : a), least = d3.min(inside, r => values[r]), marked = inside.includes(mark);
    const box = (to, kind) => chart.append("rect").attr("class", kind).attr("x", x(i)).attr("width", Math.max(0.6, (x(i + 1) - x(i)) * (columns > 200 ? 1 : 0.86)))
      .attr("y", y(to)).attr("height", Math.max(0, height - bottom - y(to)));
    box(values[most], inside.length > 1 ? "part faint" : marked ? "part marked" : "part").append("title").text(`rank ${jobRanks[most].number}: ${text(values[most])}`);
    if (inside.length > 1) box(least, marked ? "part marked" : "part").append("title").text(`ranks ${jobRanks[inside[0]].number} to ${jobRanks[inside[inside.length - 1]].number}: ${text(least)} to ${text(values[most])}`);
  }
  chart.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(4).tickFormat(text));
  const ticks = d3.ticks(0, values.length - 1, Math.min(12, values.length - 1 || 1)).filter(Number.isInteger);
  chart.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`)
    .call(d3.axisBottom(d3.scaleLinear().domain([0, values.length]).range([left, width])).tickValues(ticks.map(r => r + 0.5)).tickFormat(r => jobRanks[Math.floor(r)].number));
  return make("figure", {}, chart.node(), make("figcaption", {class: "quiet"}, values.length > columns ? `By rank. A column stands for ${digits(values.length / columns)} ranks: dark up to the least of them, light up to the greatest.` : "By rank."));
}

const spreadColumns =
    (text,
     of) => [{title : "Median", number : true, value : r => of(r).median ?? NaN, cell : r => text(r, of(r).median)},
             {
                 title : "Least",
                 number : true,
                 value : r => of(r).least ?? NaN,
                 cell : r => of(r).ranks ? make("span", {}, text(r, of(r).least),
                                                make("small", {class : "under"}, rankCell(of(r).leastRank)))
                                         : missing
             },
             {
                 title : "Greatest",
                 number : true,
                 value : r => of(r).greatest ?? NaN,
                 cell : r => of(r).ranks ? make("span", {}, text(r, of(r).greatest),
                                                make("small", {class : "under"}, rankCell(of(r).greatestRank)))
                                         : missing
             },
             {
                 title : "Imbalance",
                 number : true,
                 hint : "the greatest over the mean, less 1",
                 value : r => of(r).imbalance ?? NaN,
                 cell : r => of(r).imbalance === null ? missing : percent(of(r).imbalance)
             },
             {
                 title : "Outliers",
                 number : true,
                 hint : "ranks far from all others",
                 value : r => of(r).outliers,
                 cell : r =>
                     of(r).leftOut
                         ? make("span", {}, count(of(r).outliers),
                                make("small", {class : "under", title : "their values overflowed or are incomplete"},
                                     `${count(of(r).leftOut)} left out`))
                         : count(of(r).outliers)
             },
];

function slowTable(list, label) {
  return sortableTable({label, rows: list, first: 10, open: s => { location.hash = s.kernel ? `job=${s.kernel.index}` : `rank=${s.rank.index}`; }, columns: [
    {title: "Costs", number: true, hint: "time above the median, summed over all launches of the rank", value: s => s.lost ?? NaN, cell: s => formatTime(s.lost)},
    {title: "Slow rank", wide: true, value: s => s.text},
  ]});
}

// For each slow rank: the kernel that costs most time, and the number of other slow kernels.
const slowestOf = () => jobRanks.filter(r => r.slow.length).map(r => {
  const [first] = r.slow, more = r.slow.length - 1;
  return {rank: r, lost: d3.sum(r.slow, s => s.lost), text: more ? `${first.text}; and slow in ${count(more)} more` : first.text};
});

function jobOverview() {
  const waits = d3.sum(jobRanks, r => r.waits) > 0, times = jobRanks.map(r => r.total), mean = d3.mean(times), most = d3.max(times);
  const cards = [["Device", deviceNames(), mainCapture.chip], ["Ranks", count(jobRanks.length), plural(new Set(jobRanks.map(r => r.host)).size, "host")],
    ["GPU time", formatTime(job.total), "of all ranks"], ["Longest rank", formatTime(most), mean > 0 ? `${percent(most / mean - 1)} above the mean` : ""],
    [jobMany, count(job.all_kernels), ""], ["Launches", count(job.launches), ""]];
  const told = [
      job.unranked ? `${launches(job.unranked)} ${job.unranked === 1 ? "has" : "have"} no rank and ${job.unranked === 1 ? "is" : "are"} left out.` : null,
      job.untimed ? `The time of ${launches(job.untimed)} is not known; totals are without it.` : null,
      job.missing ? `${job.missing[0].toUpperCase()}${job.missing.slice(1)}.` : null,
      job.all_kernels > jobKernels.length ? `The page has the ${count(jobKernels.length)} ${jobMany.toLowerCase()} with most time.`
                                          : null,
      ...data.captures.flatMap(lacks)
  ].filter(Boolean);
  const waited = job.waited.map(([rank, text]) => make("li", {}, make("a", {href: `#rank=${rank}`}, text)));
  return make("div", {}, make("dl", {class: "cards"}, cards.map(([title, value, note]) => make("div", {}, make("dt", {}, title), make("dd", {}, value, make("small", {}, note))))),
    told.length ? make("ul", {class: "notices"}, told.map(text => make("li", {}, text))) : null,
    panel("Slow ranks", waited.length ? make("ul", {}, waited) : null, slowRanks.length ? slowTable(slowestOf(), "slow ranks")
      : waited.length ? null : make("p", {class: "quiet"}, "No rank is slower than the others beyond their usual difference.")),
    panel(waits ? "Time outside of kernels that wait for other ranks" : "GPU time", chartOfRanks(jobRanks.map(r => r.work), formatTime)),
    waits ? panel("Time in kernels that wait for other ranks", chartOfRanks(jobRanks.map(r => r.waits), formatTime)) : null,
    jobRanks.some(r => r.clock !== null) ? panel("Clock of the SMs", chartOfRanks(jobRanks.map(r => r.clock ?? NaN), clockText)) : null);
}

function jobTable() {
  const greatest = d3.max(jobKernels, k => k.total / job.total);
  return sortableTable({label: "kernels of the job", rows: jobKernels, search: true, first: 100, open: k => { location.hash = `job=${k.index}`; }, columns: [
    {title: "Time", number: true, value: k => k.total, cell: k => formatTime(k.total)},
    {title: "Share", number: true, value: k => k.total / job.total, cell: k => shareCell(k.total / job.total, greatest)},
    {title: "Ranks", number: true, value: k => k.spread.ranks, cell: k => count(k.spread.ranks)},
    {title: "Launches", number: true, value: k => k.launches, cell: k => count(k.launches)},
    ...spreadColumns((k, value) => formatTime(value ?? NaN), k => k.spread),
    {title: jobOne, wide: true, value: k => k.name, cell: k => make("span", {title: k.name}, make("a", {href: `#job=${k.index}`, tabIndex: -1}, breakable(k.short)), shapeOf(k),
      k.waits ? make("small", {class: "under"}, "waits for other ranks") : null)},
  ]});
}

function jobKernelPage(k) {
  const rows = k.metrics.map((spread, i) => ({name: job.metrics[i][0], unit: job.metrics[i][1], spread})).filter(r => r.spread.ranks);
  const slow = slowRanks.filter(s => s.kernel === k);
  return make("div", {}, make("h2", {}, breakable(k.short), shapeOf(k)), make("p", {class: "name quiet"}, k.name),
    make("p", {}, Number.isFinite(k.total) ? `${formatTime(k.total)} in ${launches(k.launches)} on ${plural(k.spread.ranks, "rank")}, ${percent(k.total / job.total)} of the job's GPU time.`
      : `The time of its ${launches(k.launches)} is not known.`,
      k.waits ? " It waits for other ranks: a rank that comes late takes least in it." : ""),
    panel("Mean launch", k.times ? chartOfRanks([...decode(k.times, Float32Array)], formatTime) : make("p", {class: "quiet"}, "The page has times by rank only for longer kernels; metric-eval ranks -o writes all times to an HDF5 file.")),
    slow.length ? panel("Slow ranks", slowTable(slow, "slow ranks")) : null,
    rows.length ? panel("Metrics over ranks", sortableTable({label: "metrics over ranks", rows, search: true, first: 100, sorted: 3, columns: [...spreadColumns((r, value) => format(value, r.unit), r => r.spread),
      {title: "Metric", wide: true, value: r => r.name}]})) : null);
}

function rankTable() {
  const greatest = d3.max(jobRanks, r => r.total);
  return sortableTable({label: "ranks", rows: jobRanks, search: true, first: 200, sorted: 3, open: r => { location.hash = `rank=${r.index}`; }, columns: [
    {title: "Rank", number: true, value: r => r.number, text: r => `rank ${r.number}`, cell: r => make("a", {href: `#rank=${r.index}`, tabIndex: -1}, String(r.number))},
    {title: "Host", value: r => r.host},
    {title: "Device", value: r => r.pci},
    {title: "GPU time", number: true, value: r => r.total, cell: r => make("span", {class: "with-bar"}, bar(r.total / greatest), make("span", {}, formatTime(r.total)))},
    {title: "Waits", number: true, hint: "time in kernels that wait for other ranks", value: r => r.waits, cell: r => formatTime(r.waits)},
    {title: "Launches", number: true, value: r => r.launches, cell: r => count(r.launches)},
    {title: "SM clock", number: true, value: r => r.clock ?? NaN, cell: r => clockText(r.clock)},
    {title: "Slow in", number: true, value: r => r.slow.length, cell: r => r.slow.length ? count(r.slow.length) : ""},
  ]});
}

// A rank's kernels beside the median of all ranks.
function rankPage(rank) {
  const rows = jobKernels.filter(k => k.times).map(k => ({k, mean: decode(k.times, Float32Array)[rank.index]})).filter(r => Number.isFinite(r.mean));
  const waited = job.waited.filter(([index]) => index === rank.index);
  const facts = [["Host", rank.host || missing], ["Device", rank.pci || missing], ["GPU time", formatTime(rank.total)], ["Waits", formatTime(rank.waits)], ["Launches", count(rank.launches)], ["SM clock", clockText(rank.clock)]];
  return make("div", {}, make("h2", {}, `Rank ${rank.number}`), make("dl", {class: "cards"}, facts.map(([title, value]) => make("div", {}, make("dt", {}, title), make("dd", {}, value)))),
    waited.length ? make("ul", {class: "notices"}, waited.map(([, text]) => make("li", {}, text))) : null,
    rank.slow.length ? panel("Where it is slow", slowTable(rank.slow, "where it is slow")) : null,
    panel("Among the others", chartOfRanks(jobRanks.map(r => r.work), formatTime, rank.index)),
    rows.length ? panel("Its kernels", sortableTable({label: "kernels of a rank", rows, search: true, first: 100, sorted: 2, open: r => { location.hash = `job=${r.k.index}`; }, columns: [
      {title: "Mean launch", number: true, value: r => r.mean, cell: r => formatTime(r.mean)},
      {title: "Median of all", number: true, value: r => r.k.spread.median ?? NaN, cell: r => formatTime(r.k.spread.median ?? NaN)},
      {title: "Change", number: true, value: r => r.mean / r.k.spread.median, cell: r => changeOfTime(r.mean, r.k.spread.median)},
      {title: jobOne, wide: true, value: r => r.k.name, cell: r => make("span", {title: r.k.name}, breakable(r.k.short), shapeOf(r.k))}]})) : null);
}
