"use strict";
// "#selftest" behind the address has the page try itself; what came of it stands in an element of that id.

async function selftest() {
  const results = [];
  const check = (name, good) => results.push(`${good ? "ok" : "FAILED"} ${name}`);
  const wait = () => new Promise(done => setTimeout(done, 30));
  const go = async hash => { location.hash = hash; await wait(); };
  const errors = [];
  window.addEventListener("error", e => errors.push(e.message));

  check("units are as people write them", ["registers/threads", "bytes/blocks", "gpc_cycles", "dram_cycles/s", "instructions/gpc_cycles", "l2_sectors", "bytes/s", "1/s"]
    .map(unitText).join() === "registers/thread,B/block,cycles,Hz,instructions/cycle,sectors,B/s,1/s");
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
  if (timelines.length) {
    await go("timeline");
    await wait();
    const canvas = document.querySelector("canvas");
    const axis = document.querySelector(".time"), before = axis.textContent;
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true}));
    await new Promise(done => setTimeout(done, 400));
    check("the timeline is drawn", canvas.width > 100 && canvas.height > 10);
    check("plus zooms it", axis.textContent !== before);
    const nvtx = timelines[0].launches.nvtx_names || [], names = new Set(nvtx.concat(nvtx.flatMap(path => path.split("/"))));
    const said = new Set([...timelines[0].launches.shorts, ...names, "range"]);
    check("boxes have whole names", canvas.labels.every(label => said.has(label)));
    const told = (at, down) => {
      canvas.dispatchEvent(Object.defineProperties(new MouseEvent("mousemove"), {offsetX: {value: at}, offsetY: {value: down}}));
      return canvas.title;
    };
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true}));
    await new Promise(done => setTimeout(done, 400));
    const {gaps, span} = timelines[0], hole = gaps && gaps.start.findIndex((_, i) => gaps.length[i] > span / 8);
    if (hole >= 0) {
      const at = (gaps.start[hole] + gaps.length[hole] / 2) / span * canvas.clientWidth;
      check("a gap between samples says what it is", told(at, 30).startsWith("no samples: ") && canvas.holes.some(label => label.startsWith("no samples: ")));
      check("a sample beside it does not", told(2, 30).includes(" at "));
    }
    if (gaps && timelines[0].launches.start.length) check("time without kernels says so", canvas.holes.some(label => label.startsWith("no kernel")));
    const t = timelines.find(x => x.series && x.series.length);
    if (t) {
      const levels = pyramid(t.series[0], t.per), all = extent(levels, 0, levels[0].least.length);
      check("the pyramid has the least and the greatest sample", all && all[0] === 0 && (all[1] === absent - 1 || t.series[0].high === t.series[0].low));
    }
  }
  check("nothing was asked of a network", performance.getEntriesByType("resource").length === 0);
  check("no tags came from names", !document.querySelector("main img, main iframe, main script, header script"));
  check(`no errors ${errors.join("; ")}`, !errors.length);
  const failed = results.filter(r => r.startsWith("FAILED")).length;
  document.body.append(make("pre", {id: "selftest"}, `selftest: ${failed ? `${failed} failed` : "passed"}, ${results.length} checks, usable after ${Math.round(usable)} ms\n${results.join("\n")}`));
}

const usable = performance.now();
if (location.hash === "#selftest") selftest();
