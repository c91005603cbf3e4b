"""What may change about a capture without a change of its values: the number of its files, whether they are merged or
packed, the order of its ranges; and whether the project or its user wrote a formula."""
import os
import pathlib
import re
import tempfile
import unittest
import warnings

import counterworks as cw
import numpy
import yaml
from openformat import parts_of, raw_chunks, write
from tables import run

SOURCE = pathlib.Path(os.environ["CW_SOURCE"])
CAPTURES = SOURCE / "data" / "captures"
RANGES = ["threads", "gpus", "graph_kernels", "nvtx_batch", "facts", "contexts", "once_collective", "multiplexed"]


def columns_of(view):
    table = view.table
    return {name: table[name] for name in (*table.columns, *table.metrics)}, table.statuses()


class Metamorphic(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", cw.Notice)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def data(self, name):
        return (CAPTURES / f"{name}.cwd").read_bytes()

    def cut(self, name, pieces):
        """Writes every piece-th record of a capture into a file of its own."""
        begin, devices, records, end = parts_of(self.data(name))
        paths = [self.path(f"{name}.{i}.cwd") for i in range(pieces)]
        for i, path in enumerate(paths):
            write(path, begin, devices, records[i::pieces], end)
        return paths

    def same(self, one, other, what):
        (a, statuses), (b, others) = columns_of(one), columns_of(other)
        self.assertEqual(list(a), list(b), what)
        for name in a:
                    numpy.testing.assert_array_equal(a[name], b[name], str((what, name)))
        numpy.testing.assert_array_equal(statuses, others, str(what))

    def groups(self, capture):
        """Kernels in an order that no rounding changes."""
        table = capture.kernels().table
        shape = [name for name in table.columns if name in ("grid", "block")]
        order = sorted(range(len(table)), key=lambda i: (table["group"][i], *(str(table[c][i]) for c in shape)))
        numbers = {name: table[name][order] for name in (*table.columns, *table.metrics)
                   if table[name].dtype.kind == "f" or name == "launches"}
        return [table["group"][i] for i in order], numbers, table.statuses()[order]

    def same_groups(self, one, other, what):
        (names, numbers, statuses), (others, other_numbers, other_statuses) = self.groups(one), self.groups(other)
        self.assertEqual(names, others, what)
        for name, values in numbers.items():
            numpy.testing.assert_allclose(values, other_numbers[name], rtol=1e-11, atol=1e-9, err_msg=str((what, name)))
        numpy.testing.assert_array_equal(statuses, other_statuses, str(what))

    def test_cut_merged_and_packed(self):
        for name in RANGES:
            whole, pieces = cw.open(str(CAPTURES / f"{name}.cwd")), self.cut(name, 3)
            self.same_groups(whole, cw.open(*pieces), (name, "cut into three files"))
            merged = self.path(f"{name}.merged.cwd")
            run("metric-eval", "merge", *pieces, "-o", merged, "-q")
            self.same(cw.open(*pieces).ranges(every=True), cw.open(merged).ranges(every=True), (name, "merged"))
            self.same_groups(whole, cw.open(merged), (name, "cut and merged"))

    def test_merged_is_packed(self):
        merged = self.path("packed.cwd")
        run("metric-eval", "merge", *sorted(CAPTURES.glob("runs_[12].cwd")), "-o", merged, "-q")
        self.assertIn(b"PACK", {kind for kind, _, _ in raw_chunks(pathlib.Path(merged).read_bytes())})
        both = cw.open(*map(str, sorted(CAPTURES.glob("runs_[12].cwd"))))
        self.same(both.ranges(), cw.open(merged).ranges(), "packed")

    def test_evaluated_then_merged(self):
        """Rows of files one after another are the rows of the merged file; launches and times of kernels add up."""
        paths = [str(CAPTURES / f"runs_{i}.cwd") for i in (1, 2)]
        merged = self.path("merged.cwd")
        run("metric-eval", "merge", *paths, "-o", merged, "-q")
        parts = [cw.open(path).evaluate() for path in paths]
        for of_parts, of_merged in zip(zip(*parts), cw.open(merged).evaluate()):
            numpy.testing.assert_array_equal(numpy.concatenate(of_parts, axis=1), of_merged)
        totals = {}
        for path in paths:
            table = cw.open(path).kernels().table
            for group, launches, total in zip(table["group"], table["launches"], table["total_ns"]):
                before = totals.get(group, (0, 0))
                totals[group] = before[0] + launches, before[1] + total
        table = cw.open(merged).kernels().table
        self.assertEqual(set(table["group"]), set(totals))
        for group, launches, total in zip(table["group"], table["launches"], table["total_ns"]):
            self.assertEqual(launches, totals[group][0])
            self.assertAlmostEqual(total, totals[group][1], delta=1e-9 * total)

    def test_permuted(self):
        for name in RANGES:
            begin, devices, records, end = parts_of(self.data(name))
            ranges = [i for i, (kind, _) in enumerate(records) if kind == b"RNGE"]
            order = numpy.random.default_rng(7).permutation(len(ranges))
            shuffled = self.path(f"{name}.shuffled.cwd")
            write(shuffled, begin, devices, [records[ranges[i]] for i in order], end)
            one, other = cw.open(str(CAPTURES / f"{name}.cwd")), cw.open(shuffled)
            for values, others in zip(one.evaluate(), other.evaluate()):
                numpy.testing.assert_array_equal(values[:, order], others, name)
            self.same_groups(one, other, (name, "shuffled"))

    def test_samples_cut(self):
        """Blocks of PM samples, and batches of PC samples and SASS metrics, in files of their own."""
        for name in ("pm_gemm", "pm_stream", "pm_multi", "pm_windows"):
            whole, pieces = cw.open(str(CAPTURES / f"{name}.cwd")), cw.open(*self.cut(name, 2))
            (values, statuses), (others, other_statuses) = whole.evaluate(), pieces.evaluate()
            self.assertEqual(values.shape, others.shape, name)
            numpy.testing.assert_array_equal(numpy.sort(values, axis=1), numpy.sort(others, axis=1), name)
            numpy.testing.assert_array_equal(numpy.sort(statuses, axis=1), numpy.sort(other_statuses, axis=1), name)
        for name in ("pc_gemm", "pc_contexts", "sass_gemm"):
            twice = cw.open(*[str(CAPTURES / f"{name}.cwd")] * 2).view().table
            once = cw.open(str(CAPTURES / f"{name}.cwd")).view().table
            column = "samples" if "samples" in once.columns else "sum"
            self.assertEqual(twice[column].sum(), 2 * once[column].sum(), name)

    def test_traces_count_once(self):
        for name in ("trace_train", "trace_openacc", "trace_nodes"):
            path, merged = str(CAPTURES / f"{name}.cwd"), self.path(f"{name}.cwd")
            run("metric-eval", "merge", path, path, "-o", merged, "-q")
            for other in (cw.open(path, path), cw.open(merged)):
                for table, of_other in zip(cw.open(path).view().tables.values(), other.view().tables.values()):
                    for column in table.columns:
                        what = str((name, table.name, column))
                        numpy.testing.assert_array_equal(table[column], of_other[column], what)

    def test_formulas_of_a_user(self):
        """The shipped formulas under other names, and sub-metrics written out, have the values of the shipped ones."""
        metrics = {}
        for path in (SOURCE / "data" / "formulas").glob("*.yaml"):
            metrics.update(yaml.safe_load(path.read_text())["metrics"])
        chip = cw.chip("GH100")
        metrics = {name: entry for name, entry in metrics.items() if name in set(chip)} # the chip lacks some
        names = re.compile(r"\b(%s)\b" % "|".join(metrics))
        mine = {}
        for name, entry in metrics.items():
            formula = entry["formula"]
            formulas = [names.sub(r"mine_\1", str(f)) for f in (formula if isinstance(formula, list) else [formula])]
            mine[f"mine_{name}"] = {**entry, "formula": formulas if len(formulas) > 1 else formulas[0]}
        pairs = {f"mine_{name}": name for name in metrics}
        for base in ("smsp__inst_executed", "sm__inst_executed", "lts__t_sectors"):
            unit = base.split("__")[0]
            for rollup in ("sum", "avg", "min", "max"):
                for kind in ("active", "elapsed"):
                    divided = f"{base}.{rollup} / {unit}__cycles_{kind}.avg"
                    share = f"100 * ({divided}) / {base}.{rollup}.peak_sustained"
                    for sub, formula in ((f"per_cycle_{kind}", divided), (f"pct_of_peak_sustained_{kind}", share)):
                        own = f"mine_{base}_{rollup}_{sub}"
                        mine[own], pairs[own] = {"formula": formula}, f"{base}.{rollup}.{sub}"
        path = self.path("mine.yaml")
        with open(path, "w") as file:
            yaml.safe_dump({"schema": 1, "metrics": mine}, file)
        for name in ("gemm", "multi", "h200_stream", "facts"):
            chip = cw.chip("GH100")
            chip.add(path)
            capture = cw.open(str(CAPTURES / f"{name}.cwd"), chip=chip)
            known = set(capture.available())
            both = [(own, of) for own, of in pairs.items() if own in known or of in known]
            self.assertGreater(len(both), 15, name)
            values, statuses = capture.evaluate([n for pair in both for n in pair])
            for i, pair in enumerate(both):
                numpy.testing.assert_allclose(values[2 * i], values[2 * i + 1], rtol=1e-14, err_msg=str((name, pair)))
                numpy.testing.assert_array_equal(statuses[2 * i], statuses[2 * i + 1], str((name, pair)))


if __name__ == "__main__":
    unittest.main()
