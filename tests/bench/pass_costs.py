#!/usr/bin/env python3
"""What a pass costs by the domains that it uses: pass_costs.py BIN CHIP.yaml PROGRAM, on a node with a GPU of that chip.

Collects one counter in one domain alone, then beside a counter of two others, by CUPTI's kernel replay, and takes the
median time of PROGRAM's launches. Prints the chip file's section 'pass_costs': domains that do not add up share a cost.
"""
import json
import re
import statistics
import subprocess
import sys
import tempfile

LAUNCHES = 12  # the first ones warm up and are left out
WARM = 4
BESIDE = ("gpu_lts", "gpu_sm_c")  # one domain of each of the two ways that counters are read
NOTABLE = 2500  # microseconds that two domains have in common
LEAST = 500  # a domain's own microseconds that are worth an entry


def section(text, name):
    return re.search(rf"^{name}:\n((?:  .*\n)*)", text, re.M).group(1)


class Chip:
    def __init__(self, path):
        self.text = open(path).read()
        self.domains = re.findall(r"^  (\w+):", section(self.text, "domains"), re.M)
        self.raws = {raw: where.split(", ") for raw, where in
                     re.findall(r"^  (0x\w+): \[(.*)\]", section(self.text, "raw_counters"), re.M)}
        counters = re.findall(r"^  (\w+): \{.*?raw: \[(.*?)\]", section(self.text, "counters"), re.M)
        self.counters = {name: raws.split(", ") for name, raws in counters if " of: " not in name}

    def candidates(self, domain):
        """Counters that the domain can collect alone, those of fewest raw counters first, cycles last."""
        fit = [("__cycles" in name, len(raws), name) for name, raws in self.counters.items()
               if all(domain in self.raws.get(raw, []) for raw in raws)]
        return [name for *_, name in sorted(fit)]

    def variant(self, path, chosen):
        """A chip file in which each counter of `chosen` is collected in its domain, without limits."""
        text = re.sub(r"^(classes|limits|pm_limits):\n((  .*)?\n)*", "", self.text, flags=re.M)
        for domain, name in chosen:
            for raw in self.counters[name]:
                text = re.sub(rf"^  {raw}: \[.*\]", f"  {raw}: [{domain}]", text, flags=re.M)
        with open(path, "w") as file:
            file.write(text)


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Bench:
    def __init__(self, binaries, chip, program, folder):
        self.binaries, self.chip, self.program, self.folder = binaries, chip, program, folder

    def cost(self, chosen):
        """Microseconds a launch of a pass with these (domain, counter), None where they do not share a pass."""
        chip, plan, capture = (f"{self.folder}/{name}" for name in ("chip.yaml", "plan.cwc", "run.cwd"))
        self.chip.variant(chip, chosen)
        names = ",".join(f"{name}.sum" for _, name in chosen)
        made = run([f"{self.binaries}/metric-config", "--chip-file", chip, "-m", names, "--max-passes", "1", "--no-native", "-o", plan])
        if made.returncode != 0:
            return None
        ran = run([f"{self.binaries}/capture-agent", "range", "--replay", "kernel", "--launch-count", str(LAUNCHES), "-c",
                   plan, "-o", capture, "--", self.program])
        if ran.returncode != 0:
            return None
        told = run([f"{self.binaries}/metric-eval", capture, "--chip-file", chip, "--json", "-"])
        told = json.loads(told.stdout)
        if told["capture"]["passes"] != 1:
            return None
        ranges = told["ranges"][WARM:]
        return statistics.median(r["host_end_ns"] - r["host_start_ns"] for r in ranges) / 1000

    def alone(self, domain):
        """The first counter of a domain that a pass can hold there, and its cost."""
        for name in self.chip.candidates(domain)[:4]:
            cost = self.cost([(domain, name)])
            if cost is not None:
                return name, cost
        return None, None


def shared(single, both, beside):
    """What domains have in common with `beside` and pay once: its cost and those domains. A sum of two that is less than
    either alone says that the pass was collected in another way, not that they share something."""
    overlap = {d: single[d] + single[beside] - cost for (d, b), cost in both.items() if b == beside}
    among = {d: o for d, o in overlap.items() if NOTABLE <= o <= 1.3 * single[d]}
    return statistics.median(among.values()), [d for d in single if d in among or d == beside]


def entries(single, both):
    """(cost, domains), the shared ones first, in hundreds of microseconds."""
    own, out = dict(single), []
    for beside in BESIDE:
        cost, domains = shared(single, both, beside)
        out.append((cost, domains))
        for domain in domains:
            own[domain] -= cost
    out += sorted(((cost, [domain]) for domain, cost in own.items()), reverse=True)
    return [(round(cost / 100) * 100, domains) for cost, domains in out if cost >= LEAST]


def main():
    binaries, path, program = sys.argv[1:4]
    chip = Chip(path)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(binaries, chip, program, folder)
        alone = {domain: bench.alone(domain) for domain in chip.domains}
        single = {domain: cost for domain, (_, cost) in alone.items() if cost is not None}
        both = {}
        for beside in BESIDE:
            for domain in single:
                chosen = [(d, alone[d][0]) for d in (domain, beside)]
                if domain != beside and (cost := bench.cost(chosen)) is not None:
                    both[domain, beside] = cost
    for domain, (name, cost) in alone.items():
        pairs = "".join(f", {both[domain, b]:.0f} with {b}" for b in BESIDE if (domain, b) in both)
        print(f"# {domain}: not measured" if cost is None else f"# {domain}: {cost:.0f} us ({name}){pairs}")
    print("pass_costs:")
    for cost, domains in entries(single, both):
        print(f"  - {{cost: {cost}, domains: [{', '.join(domains)}]}}")


if __name__ == "__main__":
    main()
