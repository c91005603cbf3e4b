"use strict";
// With "#selftest" in the address the page tests itself; an element with this id shows the results.

async function selftest() {
  const results = [];
  const check = (name, good) => results.push(`${good ? "ok" : "FAILED"} ${name}`);
  const wait = () => new Promise(done => setTimeout(done, 30));
  const go = async hash => { location.hash = hash; await wait(); };
  const errors = [];
  window.addEventListener("error", e => errors.push(e.message));

  check("units are as people write them", ["registers/threads", "bytes/blocks", "gpc_cycles", "dram_cycles/s", "instructions/gpc_cycles", "l2_sectors", "bytes/s", "1/s"]
    .map(unitText).join() === "registers/thread,B/block,cycles,Hz,instructions/cycle,sectors,B/s,1/s");
  check("a number that is rounded up to the next unit has it", [formatTime(999960), formatTime(-999.99), formatTime(999940), scaled(999960, "B"), digits(999.96)].join() === "1 ms,-1 µs,999.9 µs,1 MB,1,000");
  const sorted = table => {
    table.querySelector("thead button").click();
    return [...table.querySelectorAll("tbody tr")].map(r => r.lastChild.textContent).join();
  };
  check("rows without a number sort last", sorted(traceTable({title: "", columns: ["wall", "name"], rows: [[["2 ns", 2], ["a"]], [["-", null], ["b"]], [["7 ns", 7], ["c"]]]})) === "c,a,b");
  check("texts sort from A to Z first", sorted(traceTable({title: "", columns: ["mostly", "name"], rows: [[["own work", null], ["a"]], [["launch", null], ["b"]], [["waiting", null], ["c"]]]})) === "b,a,c");
  check("numbers in texts sort as numbers", sorted(sortableTable({label: "", rows: ["f.cu:100", "f.cu:9", "f.cu:10"], columns: [{title: "Line", value: line => line}], sorted: -1})) === "f.cu:9,f.cu:10,f.cu:100");
  const searched = (table, words) => {
    const input = table.querySelector("input");
    input.value = words;
    input.dispatchEvent(new Event("input"));
    return [...table.querySelectorAll("tbody tr")].map(r => r.textContent).join();
  };
  const listed = sortableTable({label: "", search: true, rows: [[57300, "b"], [NaN, ""], [4100, "a"]], columns: [{title: "Time", number: true, value: r => r[0], cell: r => formatTime(r[0])}, {title: "Name", value: r => r[1]}]});
  check("a search is for shown numbers", searched(listed, "57.3") === "57.3 µsb" && searched(listed, "57300") === "" && searched(listed, "nan") === "");
  check("rows without a text sort last", searched(listed, "") && [1, 1].map(i => {
    listed.querySelectorAll("thead button")[i].click();
    return [...listed.querySelectorAll("tbody tr")].map(r => r.lastChild.textContent).join();
  }).join(" ") === "a,b, b,a,");
  await go("overview");
  check("the title is the capture's name", byId("title").textContent === data.title);
  for (const tab of tabs) {
    await go(tab.id);
    check(`part ${tab.id} has content`, byId("main").textContent.length > 20);
    check(`part ${tab.id} is marked`, tab.element.getAttribute("aria-current") === "page");
  }
  if (kernels.length) {
    await go("kernels");
    const rows = () => [...document.querySelectorAll("main tbody tr")].map(r => r.lastChild.textContent);
    const heading = [...document.querySelectorAll("main thead button")].pop();
    heading.click();
    const up = rows().join("\n");
    heading.click();
    check("a click on a heading sorts", kernels.length < 2 || up !== rows().join("\n") || new Set(rows()).size < 2);
    check("aria-sort tells it", heading.parentElement.getAttribute("aria-sort") !== "none");
    const search = document.querySelector("main input[type=search]");
    search.value = kernels[kernels.length - 1].name.slice(0, 30);
    search.dispatchEvent(new Event("input"));
    check("a search leaves rows that fit", rows().length >= 1 && rows().length <= kernels.length);
    search.value = "no such kernel, surely";
    search.dispatchEvent(new Event("input"));
    check("a search for nothing leaves none", rows().length === 0);
    search.value = "";
    search.dispatchEvent(new Event("input"));
    const first = document.querySelector("main tbody tr");
    first.focus();
    first.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));
    check("an arrow moves to the next row", kernels.length < 2 || document.activeElement !== first);
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
    await wait();
    check("Enter opens a kernel", location.hash.startsWith("#kernel="));
    for (const kind of ["family", ...(data.nvtx ? ["nvtx"] : [])]) {
      await go(kind);
      const groups = groupsBy(kind), all = d3.sum(groups, g => g.launches), first = document.querySelector("main tbody tr");
      const wanted = kind === "family" ? launchCount - (data.launches_left || 0) : launchCount;
      check(`by ${kind}, no launch is lost or counted twice`, all === wanted || (kind === "nvtx" && data.nvtx_left > 0 && all < wanted));
      const time = kind === "family" ? data.shown : data.total;
      check(`by ${kind}, times add up`, Math.abs(d3.sum(groups, g => g.total) - time) <= 1e-6 * time || data.nvtx_left > 0);
      first.click();
      await wait();
      check(`a row of ${kind} opens its kernels`, location.hash.startsWith(`#${kind}=`) && rows().length === Math.min(100, groups[0].parts.filter(p => p.kernel).length));
    }
    const {nvtx} = data;
    data.nvtx = [{path: "untimed", kernels: [[0, 1, 0, 0]]}];
    const [untimed] = groupings.nvtx.make();
    data.nvtx = nvtx;
    const shown = groupPage("nvtx", {...untimed, total: NaN, launches: 1}).textContent;
    check("launches of a range without a time have none", shown.includes(`1 ${launchWords[0]} without a time.`) && !shown.includes("0 ns"));
    const spreads = kernelList([["a", 1, 9], ["b", 2, 0.5]].map(([short, launches, deviation]) => ({...kernels[0], short, launches, mean: 1, deviation})), 1);
    [...spreads.querySelectorAll("thead button")].find(b => b.textContent === "Spread").click();
    check("one launch of a group has no spread to sort by", spreads.querySelector("tbody tr").lastChild.textContent.startsWith("b"));
    for (let i = 0; i < Math.min(kernels.length, 100); i++) {
      await go(`kernel=${i}`);
      const outside = [...document.querySelectorAll("main circle")].some(c => {
        const {width, height} = c.ownerSVGElement.viewBox.baseVal, x = Number(c.getAttribute("cx")), y = Number(c.getAttribute("cy"));
        return !(x >= 0 && x <= width && y >= 0 && y <= height);
      });
      if (outside) check(`the roofline of kernel ${i} holds its points`, false);
      if (document.querySelector("main circle.own") && !document.querySelector("main line.roof.own")) check(`the roofline of kernel ${i} has its roof`, false);
      if (!byId("main").textContent.includes(kernels[i].short)) check(`the page of kernel ${i} has its name`, false);
    }
    const value = document.querySelector("main .value");
    if (value) {
      value.click();
      check("a number opens how it came about", byId("explain").open && byId("explain-title").textContent.length > 0);
      const inner = document.querySelector("#explain .value");
      if (inner) {
        inner.click();
        document.querySelector("#explain button[type=button]").click();
        check("and leads back", explained.length === 1);
      }
      check("a window has elements alone", metrics.slice(0, 300).every((_, i) => {
        explain(kernels[0], i);
        return [...byId("explain").childNodes].every(n => n.nodeType === Node.ELEMENT_NODE);
      }));
      byId("explain").close();
    }
  }
  const own = timelines.filter(t => !placeInTrace(t));
  if (own.length) {
    await go("timeline");
    await wait();
    const canvas = document.querySelector(".timeline:not(.trace) canvas");
    const axis = document.querySelector(".timeline:not(.trace) .time"), before = axis.textContent;
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true}));
    await new Promise(done => setTimeout(done, 400));
    check("the timeline is drawn", canvas.width > 100 && canvas.height > 10);
    check("plus zooms it", axis.textContent !== before);
    check("keys of the browser stay its own", ["ctrlKey", "metaKey", "altKey"].every(key => canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", [key]: true, cancelable: true}))));
    const nvtx = own[0].launches.nvtx_names || [], names = new Set(nvtx.concat(nvtx.flatMap(path => path.split("/"))));
    const said = new Set([...own[0].launches.shorts, ...names, "range"]);
    check("boxes have whole names", canvas.labels.every(label => said.has(label)));
    const told = (at, down) => {
      canvas.dispatchEvent(Object.defineProperties(new MouseEvent("mousemove"), {offsetX: {value: at}, offsetY: {value: down}}));
      return canvas.title;
    };
    for (const key of ["ArrowRight", "+", "ArrowRight"]) canvas.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    const middle = async width => {
      canvas.parentElement.style.width = width;
      await new Promise(done => setTimeout(done, 400));
      canvas.resize();
      return canvas.timeAt(canvas.clientWidth / 2) / own[0].span;
    };
    const seen = await middle("");
    check("another width shows the same part", Math.abs(await middle("700px") - seen) < 0.005 && canvas.clientWidth <= 700);
    await middle("");
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true}));
    await new Promise(done => setTimeout(done, 400));
    const {gaps, span} = own[0], hole = gaps && gaps.start.findIndex((_, i) => gaps.length[i] > span / 8);
    if (hole >= 0) {
      const at = (gaps.start[hole] + gaps.length[hole] / 2) / span * canvas.clientWidth;
      check("a gap between samples says what it is", told(at, 30).startsWith("no samples: ") && canvas.holes.some(label => label.startsWith("no samples: ")));
      check("a sample beside it does not", told(2, 30).includes(" at "));
    }
    const {start, length} = own[0].launches, ends = start.map((at, i) => at + length[i]);
    const idle = gaps && start.length && Math.max(...start.slice(1).map((at, i) => at - ends[i]), span - Math.max(...ends));
    if (idle > span / 8) check("time without kernels says so", canvas.holes.some(label => label.startsWith("no kernel")));
    const t = own.find(x => x.series && x.series.length);
    if (t) {
      const levels = pyramid(t.series[0], t.per), all = extent(levels, 0, levels[0].least.length);
      check("the pyramid has the least and the greatest sample", all && all[0] === 0 && (all[1] === absent - 1 || t.series[0].high === t.series[0].low));
      const boxes = [], series = {...t.series[0], unit: "", low: -4, high: -1}, area = {left: 0, right: 50, from: 0, to: t.span, top: 10, height: 100};
      paintSeries({fillRect: (x, y, w, h) => boxes.push([y, y + h])}, t, series, area, "");
      check("values below 0 hang from a line at 0", boxes.length && boxes.every(([y, end], i) => i % 2 || y === 10 && end < 110.1));
      check("an axis below 0 tells both ends", reachText(series) === "-4 to 0" && reachText({...series, high: 3}) === "-4 to 3" && reachText({...series, low: 1, high: 3}) === "up to 3");
    }
  }
  if (job) await testJob(check, go, wait);
  for (const trace of traces) await testTrace(trace, check, go);
  check("nothing was asked of a network", performance.getEntriesByType("resource").length === 0);
  check("no tags came from names", !document.querySelector("main img, main iframe, main script, header script"));
  check(`no errors ${errors.join("; ")}`, !errors.length);
  const failed = results.filter(r => r.startsWith("FAILED")).length;
  document.body.append(make("pre", {id: "selftest"}, `selftest: ${failed ? `${failed} failed` : "passed"}, ${results.length} checks, usable after ${Math.round(usable)} ms\n${results.join("\n")}`));
}

// The ranks of a job.
async function testJob(check, go, wait) {
  await go("job");
  check("a row for each kernel", document.querySelectorAll("main tbody tr").length === Math.min(100, jobKernels.length));
  document.querySelector("main tbody tr").click();
  await wait();
  check("a row opens its kernel", location.hash.startsWith("#job=") && byId("main").textContent.includes("Mean launch"));
  check("it has a chart of its ranks", document.querySelectorAll("main rect.part").length >= Math.min(jobKernels[0].spread.ranks, 900));
  check("its times are those of its spread", jobKernels.every(k => !k.times || Math.abs(d3.max([...decode(k.times, Float32Array)].filter(Number.isFinite)) / k.spread.greatest - 1) < 1e-6 || !k.spread.ranks));
  check("times of kernels that are shown are those of ranks", job.all_kernels > jobKernels.length || Math.abs(d3.sum(jobKernels, k => k.total) / d3.sum(jobRanks, r => r.total) - 1) < 1e-6);
  await go("rank");
  document.querySelector("main tbody tr").click();
  await wait();
  check("a row opens its rank", location.hash.startsWith("#rank=") && document.querySelectorAll("main rect.marked").length === 1);
}

// The chart of a trace.
async function testTrace(trace, check, go) {
  await go("overview");
  window.dispatchEvent(new Event("beforeprint"));
  check(`${trace.file}: paper has all rows of its tables`, [...document.querySelectorAll("main .words button.more")].every(button => button.hidden));
  await go("timeline");
  await new Promise(done => setTimeout(done, 400));
  trace.chart.resize(); // a busy machine may not have drawn a frame yet
  const {chart} = trace, name = trace.file, all = trace.lanes.flatMap(levelsOf), sum = (list, of) => d3.sum(list, of);
  check(`${name}: the chart is drawn`, chart.canvas.drawn > 100 && (!all.length || chart.canvas.height > 10));
  check(`${name}: no event is lost`, trace.lanes_left > 0 || sum(all, level => sum(level.count)) === trace.events);
  check(`${name}: items are as many as it says`, sum(all, level => level.length) === trace.items);
  check(`${name}: each has a name`, all.every(level => level.what.every(what => what < trace.whats.length)) && trace.whats.every(w => w.name < trace.names.length));
  check(`${name}: the names have all events`, sum(trace.whats, w => w.count) === trace.events);
  check(`${name}: times are in the span`, all.every(level => level.start.every((start, i) => start >= 0 && level.end[i] <= trace.span)));
  if (!trace.resolution) check(`${name}: the names have all time`, Math.abs(sum(all, level => sum(level.busy)) - sum(trace.whats, w => w.time)) < 1);
  const found = (level, i) => [level.start[i], level.end[i], (level.start[i] + level.end[i]) / 2].every((time, n) => itemsIn(level, time, time).includes(i) || (n && level.end[i] === time && level.start[i] < time));
  check(`${name}: an event is found at its time`, all.every(level => level.start.slice(0, 500).every((_, i) => found(level, i))));
  check(`${name}: a range without a length is around nothing`, trace.lanes.filter(l => l.kind === "nvtx").every(l => levelsOf(l).every(level => level.start.slice(0, 500)
    .every((time, i) => level.end[i] > time || !rangesAt(trace, l.group, time).includes(labelOf(trace, level.what[i]))))));
  check(`${name}: the whole span has all events`, sum(sumsIn(trace, trace.lanes.map(l => l.kind), 0, trace.span).list, s => s.count) === sum(all, level => sum(level.count)));
  trace.groups.forEach((group, g) => {
    if (group.device === undefined) return;
    const busy = busyIn(trace, g, 0, trace.span), half = busyIn(trace, g, 0, trace.span / 2) + busyIn(trace, g, trace.span / 2, trace.span);
    check(`${name}: group ${g} is busy at most all the time`, busy >= 0 && busy <= trace.span && Math.abs(busy - half) < 1e-6 * trace.span + 1);
  });
  if (!all.length) return;
  const opened = chart.shown(), part = busySpan(trace);
  check(`${name}: it opens on what the devices did`, trace.groups.every((_, g) => busyIn(trace, g, ...opened) >= 0.9 * busyIn(trace, g, 0, trace.span)) && (part ? opened[1] - opened[0] < 0.7 * trace.span : true));
  chart.all();
  chart.by(4);
  await new Promise(done => setTimeout(done, 400));
  const [from, to] = chart.shown();
  check(`${name}: zoom shows a part`, to - from < trace.span / 3.9);
  const resized = async width => {
    chart.canvas.parentElement.style.width = width;
    await new Promise(done => setTimeout(done, 400));
    chart.resize();
    return chart.shown();
  };
  check(`${name}: it shows this part in another width`, (await resized("700px")).every((time, n) => Math.abs(time - [from, to][n]) <= (to - from) / 100 + 1) && chart.canvas.clientWidth <= 700);
  await resized("");
  const index = trace.lanes.findIndex(l => l.kind === "gpu" && levelsOf(l).some(level => level.cause.some(cause => cause >= 0)));
  const lane = Math.max(0, index), depth = Math.max(0, levelsOf(trace.lanes[lane]).findIndex(level => level.cause.some(cause => cause >= 0))), level = levelsOf(trace.lanes[lane])[depth];
  const i = Math.max(0, level.cause.findIndex((cause, n) => cause >= 0 && level.count[n] === 1)), item = {lane, level, depth, i};
  chart.choose(item, true);
  focusChosen(chart);
  check(`${name}: the chosen event is told`, byId("main").textContent.includes("Took"));
  if (index >= 0 && level.cause[i] >= 0) {
    const call = callOf(trace, item);
    check("a launch is joined to its call", call !== null && launchedBy(trace, call, 1000).some(other => sameItem(other, item)));
  }
  const at = chart.rows.find(r => r.kind === "lane" && r.lane === lane), x = chart.canvas.clientWidth / 2;
  check(`${name}: what is under the pointer is told`, at && underText(chart, {row: at, time: 0, events: 1, item}).includes(namesOf(trace, level.what[i])[0]) && chart.under(x, at.y + 3).row === at);
  chart.search(namesOf(trace, level.what[i])[0] || "kernel");
  check(`${name}: the search finds it`, chart.found && chart.found[level.what[i]] === 1 && (chart.chosen = null, findItem(chart, 1) !== null || findItem(chart, -1) !== null));
  let steps = 0;
  const most = sum(all, level => level.length);
  chart.found.fill(1);
  chart.all();
  for (chart.chosen = null; steps < 200 && findItem(chart, 1); steps++) chart.chosen = findItem(chart, 1);
  check(`${name}: the search goes to each`, most > 0 && steps === Math.min(200, most));
  chart.search("no such event, surely");
  check(`${name}: a search for nothing finds none`, chart.found.every(f => !f));
  const words = "100% of f<a, b>";
  await go(`timeline=${traces.indexOf(trace)}/0,${trace.span},${words}`);
  check(`${name}: the address has any words to search for`, chart.input.value === words);
  chart.search("");
  chart.canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true}));
  await new Promise(done => setTimeout(done, 400));
  chart.canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "n", bubbles: true}));
  check(`${name}: N chooses an event`, chart.chosen !== null);
  const before = chart.canvas.height;
  chart.canvas.dispatchEvent(Object.defineProperties(new MouseEvent("click"), {offsetX: {value: 20}, offsetY: {value: 8}}));
  check(`${name}: a click on a heading closes its lanes`, chart.canvas.height < before);
}

const usable = performance.now();
if (location.hash === "#selftest") selftest();
