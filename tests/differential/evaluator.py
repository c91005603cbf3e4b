"""Evaluates captures of ranges by the words of docs/evaluation.md and data/schema.md. No code of the project was its
model: a difference from metric-eval is a fault of one of the three. Arrays run over the ranges of a capture."""
import pathlib
import re

import numpy
import yaml

OK, MIXED, MULTIPLEXED, ZERO, OVERFLOW, INCOMPLETE, IMPLAUSIBLE, UNAVAILABLE, NOT_COLLECTED = range(9)
ATTRIBUTES = {"multiprocessor_count": "multiprocessors", "clock_rate_khz": "clock_khz", "total_memory": "memory_bytes",
              "memory_clock_rate_khz": "memory_clock_khz", "global_memory_bus_width": "memory_bus_bits",
              "l2_cache_size": "l2_bytes"}
FORM_STATUS = numpy.array([NOT_COLLECTED, UNAVAILABLE, OK, OK, OK, OVERFLOW, OK, INCOMPLETE])
ROLLUPS = ["sum", "avg", "min", "max"]


class Chip:
    def __init__(self, data, name):
        sections = []
        for path in pathlib.Path(data, "chips").glob("*.yaml"):
            text = path.read_text()
            if re.search(rf"(?m)^(chip|also):.*\b{name}\b", text):
                sections = re.split(r"(?m)^(?=[a-z])", text)
        wanted = [s for s in sections if re.match("time|units|counters|ratios|throughputs", s)]
        chip = yaml.load("".join(wanted), yaml.CSafeLoader)
        self.time, self.units, self.counters = chip["time"], chip["units"], chip["counters"]
        self.ratios, self.throughputs, self.formulas = chip["ratios"], chip["throughputs"], {}
        for path in sorted(pathlib.Path(data, "formulas").glob("*.yaml")):
            self.add_formulas(path.read_text())

    def add_formulas(self, text):
        entries = yaml.safe_load(text)["metrics"]
        known = {name: list(map(str, e["formula"] if isinstance(e["formula"], list) else [e["formula"]]))
                 for name, e in entries.items()}

        def has(name):
            return any(all(map(has, names_in(f))) for f in known[name]) if name in known else self.has(name)
        for name, formulas in known.items():
            if has(name):
                self.formulas[name] = next(f for f in formulas if all(map(has, names_in(f))))

    def has(self, name):
        """Whether there is such a metric with a known formula."""
        base = split(name)[0]
        ratio = self.ratios.get(base)
        return (name in self.formulas or name.startswith(("launch__", "device__attribute_")) or base in self.counters
                or base in self.throughputs or (ratio is not None and ("num" in ratio or name.endswith(".max_rate"))))

    def constituents(self, base):
        found = list(self.throughputs[base].get("counters", []))
        for other in self.throughputs[base].get("throughputs", []):
            found += self.constituents(other)
        return found


TOKEN = re.compile(r"\s*(?:(\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+)|([A-Za-z_][\w.]*)|(<=|>=|==|!=|[-+*/(),<>]))")


def tokens_of(formula):
    return [match.groups() for match in TOKEN.finditer(formula.strip())]


def names_in(formula):
    tokens = tokens_of(formula)
    return [name for i, (_, name, _) in enumerate(tokens) if name and tokens[i + 1:i + 2] != [(None, None, "(")]]


def split(name):
    """Base name, rollup or kind of ratio, sub-metric; the base name may have prefixes with dots."""
    match = re.fullmatch(r"(.*?__[^.]*)\.([^.]*)(?:\.(.*))?", name)
    return match.groups() if match else (name, None, None)


class Evaluator:
    def __init__(self, capture, chip):
        self.capture, self.chip, self.of_range = capture, chip, capture.ranges
        self.index = {name: i for i, (name, _, _) in enumerate(capture.counters)}
        self.columns = []  # of each counter: a list of (pass or None, forms, rollups)
        for i, (_, whole, passes) in enumerate(capture.counters):
            self.columns.append([(set(passes) if whole else set(), *self.stack("values", i))])
        for i, (counter, its_pass) in enumerate(capture.repeats):
            self.columns[counter].append(({its_pass}, *self.stack("repeats", i)))
        self.count = len(self.of_range)

    def stack(self, member, i):
        values = [r[member][i] for r in self.of_range]
        return numpy.array([form for form, _ in values]), numpy.array([rollups for _, rollups in values]).T

    def device(self, counter):
        """Instances and peaks of a counter on each range's device."""
        known = [self.capture.devices[r["device"]][1][counter] for r in self.of_range]
        return numpy.array([k[0] for k in known], float), numpy.array([k[1] for k in known]).T

    # the counters of a metric

    def terms(self, base, rollup):
        """The recorded counters that a counter's rollup is a sum of, with their coefficients; None without any."""
        counter = self.chip.counters[base]
        of = counter.get("of", {})
        alone = len(of) == 1 and min(of.values()) > 0 and self.chip.counters[next(iter(of))]["unit"] == counter["unit"]
        if of and (rollup in ("sum", "avg") or alone) and all(name in self.index for name in of):
            per = counter.get("per", 1) if rollup == "avg" else 1
            return [(per * coefficient, self.index[name]) for name, coefficient in of.items()]
        return [(1, self.index[base])] if base in self.index else None

    def cycles(self, base, kind):
        counter = self.chip.counters[base]
        return counter.get(kind, self.chip.units[counter["unit"]].get(kind, "none"))

    def needs(self, name):
        """The operands of a metric: pairs of a base name and a rollup."""
        base, rollup, sub = split(name)
        if name in self.chip.formulas:
            return [need for part in names_in(self.chip.formulas[name]) for need in self.needs(part)]
        if base in self.chip.ratios:
            ratio = self.chip.ratios[base]
            return [] if rollup == "max_rate" else [(ratio[side], self.ratio_rollup(ratio)) for side in ("num", "den")]
        if base in self.chip.throughputs:
            return [need for part in self.chip.constituents(base) for need in self.needs(f"{part}.{rollup}.{sub}")]
        if base not in self.chip.counters:
            return []
        sub = sub or ""
        found = [] if sub.startswith("peak_sustained") else [(base, rollup)]
        found += [(self.cycles(base, kind), "avg") for kind in ("active", "elapsed") if kind in sub]
        return found + ([(self.chip.time, "avg")] if "per_second" in sub else [])

    def ratio_rollup(self, ratio):
        return "avg" if self.chip.counters[ratio["num"]]["unit"] == self.chip.counters[ratio["den"]]["unit"] else "sum"

    # values

    def evaluate(self, name):
        needs, base = self.needs(name), split(name)[0]
        terms = [self.terms(*need) if need[0] in self.chip.counters else None for need in needs]
        counters = sorted({i for found in terms if found for _, i in found})
        passes = [{p for its, _, _ in self.columns[i] for p in its} for i in counters]
        candidates = sorted(set.intersection(*passes)) if passes else []
        value, status = self.in_pass(name, None)
        if base in self.chip.throughputs: # the largest of values of one pass each
            return value, status
        if counters and (name not in self.chip.formulas or len(set(self.metrics_in(name))) > 1):
            status = numpy.maximum(status, MIXED)
        for candidate in reversed(candidates):
            there = numpy.all([self.column(i, candidate)[0] != 0 for i in counters], axis=0)
            one, its = self.in_pass(name, candidate)
            value, status = numpy.where(there, one, value), numpy.where(there, its, status)
        return value, status

    def metrics_in(self, name):
        formula = self.chip.formulas.get(name)
        return [part for inner in names_in(formula) for part in self.metrics_in(inner)] if formula else [name]

    def column(self, i, its_pass):
        if its_pass is not None:
            return next(column[1:] for column in self.columns[i] if its_pass in column[0])
        forms, rollups = self.columns[i][0][1:]
        for _, others, others_rollups in self.columns[i][1:]:
            forms, rollups = numpy.where(forms == 0, others, forms), numpy.where(forms == 0, others_rollups, rollups)
        return forms, rollups

    def operand(self, base, rollup, its_pass):
        terms = self.terms(base, rollup) if base in self.chip.counters else None
        if terms is None:
            return self.nothing()
        value, size, status = numpy.zeros(self.count), numpy.zeros(self.count), numpy.zeros(self.count, int)
        for coefficient, i in terms:
            forms, rollups = self.column(i, its_pass)
            term = coefficient * rollups[ROLLUPS.index(rollup)]
            value, size = value + term, size + abs(term)
            status = numpy.maximum(status, FORM_STATUS[forms])
        return value, numpy.maximum(status, numpy.where((value < 0) & (value < -0.005 * size), IMPLAUSIBLE, OK))

    def nothing(self):
        return numpy.full(self.count, numpy.nan), numpy.full(self.count, NOT_COLLECTED)

    def divide(self, a, b):
        (value, status), (divisor, divisor_status) = a, b
        zero = divisor == 0
        with numpy.errstate(all="ignore"):
            result = numpy.where(zero, numpy.where(value == 0, 0, numpy.nan), value / divisor)
        return result, numpy.maximum(numpy.maximum(status, divisor_status), numpy.where(zero, ZERO, OK))

    def in_pass(self, name, its_pass):
        base, rollup, sub = split(name)
        if name in self.chip.formulas:
            return Formula(self, self.chip.formulas[name], its_pass).result()
        if base in self.chip.ratios:
            return self.ratio(base, rollup, its_pass)
        if base in self.chip.throughputs:
            parts = [f"{part}.{rollup}.{sub}" for part in self.chip.constituents(base)]
            alone = its_pass is None
            return self.largest([self.evaluate(part) if alone else self.in_pass(part, its_pass) for part in parts])
        if base in self.chip.counters:
            return self.counter(base, rollup, sub or "", its_pass)
        return self.fact(name)

    def fact(self, name):
        def of(r):
            attributes, named = self.capture.devices[r["device"]][0], name.replace("device__attribute_", "")
            sizes = {}
            for what in ("grid", "block"):
                sizes.update({f"launch__{what}_dim_{axis}": size for axis, size in zip("xyz", r[what])})
                sizes[f"launch__{what}_size"] = numpy.prod([float(size) for size in r[what]])
            sizes["launch__thread_count"] = sizes["launch__grid_size"] * sizes["launch__block_size"]
            sizes.update({f"launch__{what}_id": r[what] for what in ("stream", "context", "device")})
            found = r.get("facts", {}).get(name, sizes.get(name))
            found = found if named == name else attributes.get(ATTRIBUTES.get(named, named))
            unknown = found is None or (found == 0 and re.search("__(grid|block)_|thread_count", name))
            return numpy.nan if unknown else float(found)
        value = numpy.array([of(r) for r in self.of_range])
        return value, numpy.where(numpy.isnan(value), NOT_COLLECTED, OK)

    def largest(self, parts):
        """Parts that the device lacks do not count; without one that was not collected the largest is unknown."""
        value, status = numpy.full(self.count, numpy.nan), numpy.full(self.count, UNAVAILABLE)
        for part, its in parts:
            its = numpy.where(numpy.isnan(part), numpy.maximum(its, UNAVAILABLE), its)
            lost = (its == NOT_COLLECTED) | (status == NOT_COLLECTED)
            first, there = status == UNAVAILABLE, its != UNAVAILABLE
            value = numpy.where(there, numpy.where(first, part, numpy.fmax(value, part)), value)
            status = numpy.where(there, numpy.where(first, its, numpy.maximum(status, its)), status)
            value, status = numpy.where(lost, numpy.nan, value), numpy.where(lost, NOT_COLLECTED, status)
        return value, status

    def ratio(self, base, kind, its_pass):
        ratio = self.chip.ratios[base]
        most = ratio.get("max_rate", numpy.nan)
        if kind == "max_rate":
            return numpy.full(self.count, float(most)), numpy.zeros(self.count, int)
        rollup = self.ratio_rollup(ratio)
        num, den = (self.operand(ratio[side], rollup, its_pass) for side in ("num", "den"))
        value, status = self.divide(num, den)
        value = numpy.where(den[0] == 0, 0, value * ratio.get("scale", 1))
        if ratio["dim"] == 1 and "latency" not in base and most > 0:
            status = numpy.maximum(status, numpy.where(value > 1.005 * most, IMPLAUSIBLE, OK))
        return (100 * value / most if kind == "pct" else value), status

    def counter(self, base, rollup, sub, its_pass):
        if re.search("frame|region", sub) or (re.search("_in_(frame|region)$", base) and "peak_sustained" != sub[:14]):
            return self.nothing()
        roll = None if sub.startswith("peak_sustained") else self.operand(base, rollup, its_pass)
        kind = next((kind for kind in ("active", "elapsed") if kind in sub), None)
        cycles = self.operand(self.cycles(base, kind), "avg", its_pass) if kind else None
        if "per_second" in sub:
            nanoseconds, its_status = self.operand(self.chip.time, "avg", its_pass)
            seconds = nanoseconds / 1e9, its_status
        if sub == "":
            return roll
        if sub == "per_second":
            return self.divide(roll, seconds)
        if sub.startswith("per_cycle"):
            return self.divide(roll, cycles)
        if base not in self.index:
            return self.nothing()
        instances, peaks = self.device(self.index[base])
        peak = peaks[ROLLUPS.index(rollup)], numpy.where(numpy.isnan(peaks[0]), UNAVAILABLE, OK)
        if sub == "peak_sustained":
            return peak
        if sub.startswith("peak_sustained"):
            value = peak[0] * cycles[0], numpy.maximum(peak[1], cycles[1])
            if not sub.endswith("per_second"):
                return value
            there = numpy.where((peaks[0] != 0) | (peaks[1] == 0), 1.0, 0.0)
            return self.divide(self.divide(value, seconds), (there, numpy.zeros(self.count, int)))
        value, status = self.divide(self.divide(roll, cycles), peak)
        whole = {"sum": peaks[3] * instances, "max": peaks[3] * instances}.get(rollup, peaks[3])
        with numpy.errstate(all="ignore"):
            status = numpy.maximum(status, numpy.where(value > 1.005 * whole / peak[0], IMPLAUSIBLE, OK))
        return 100 * value, status


class Formula:
    """Precedence climbing over the tokens of a formula; results are pairs of values and statuses."""

    def __init__(self, evaluator, formula, its_pass):
        self.evaluator, self.its_pass, self.tokens, self.at = evaluator, its_pass, tokens_of(formula), 0

    def result(self):
        value, status = self.sum()
        assert self.at == len(self.tokens), self.tokens[self.at]
        known = status < UNAVAILABLE
        return numpy.where(known & ~numpy.isinf(value), value, numpy.nan), status

    def take(self, *wanted):
        if self.at < len(self.tokens) and self.tokens[self.at][2] in wanted:
            self.at += 1
            return self.tokens[self.at - 1][2]
        return None

    def join(self, function, *operands):
        with numpy.errstate(all="ignore"):
            return function(*(o[0] for o in operands)), numpy.max([o[1] for o in operands], axis=0)

    def sum(self):
        left = self.product()
        while operator := self.take("+", "-"):
            left = self.join(numpy.add if operator == "+" else numpy.subtract, left, self.product())
        return left

    def product(self):
        left = self.atom()
        while operator := self.take("*", "/"):
            right = self.atom()
            left = self.join(numpy.multiply if operator == "*" else numpy.divide, left, right)
            if operator == "/":
                left = left[0], numpy.maximum(left[1], numpy.where(right[0] == 0, ZERO, OK))
        return left

    def atom(self):
        if self.take("-"):
            return self.join(numpy.negative, self.atom())
        if self.take("("):
            return self.close(self.sum())
        number, name, _ = self.tokens[self.at]
        self.at += 1
        if number:
            return numpy.full(self.evaluator.count, float(number)), numpy.zeros(self.evaluator.count, int)
        if not self.take("("):
            alone = self.its_pass is None and name not in self.evaluator.chip.formulas
            return self.evaluator.evaluate(name) if alone else self.evaluator.in_pass(name, self.its_pass)
        operands = [self.sum()]
        if comparison := self.take("<", "<=", ">", ">=", "==", "!="):
            compare = {"<": numpy.less, "<=": numpy.less_equal, ">": numpy.greater, ">=": numpy.greater_equal,
                       "==": numpy.equal, "!=": numpy.not_equal}
            operands = [self.join(compare[comparison], operands[0], self.sum())]
        while self.take(","):
            operands.append(self.sum())
        self.close(None)
        if name == "if":
            condition, yes, no = operands
            return (numpy.where(condition[0], yes[0], no[0]),
                    numpy.maximum(condition[1], numpy.where(condition[0], yes[1], no[1])))
        functions = {"min": numpy.fmin, "max": numpy.fmax, "abs": numpy.abs, "floor": numpy.floor, "ceil": numpy.ceil}
        result = operands[0] if len(operands) > 1 else self.join(functions[name], operands[0])
        for operand in operands[1:]:
            result = self.join(functions[name], result, operand)
        return result

    def close(self, result):
        assert self.take(")"), "a formula lacks ')'"
        return result
