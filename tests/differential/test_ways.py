"""Every shipped capture has the same tables, values and statuses by HDF5, CSV, JSON and the library (its views, and
counterworks_evaluate, which Python calls by the C header)."""
import os
import pathlib
import re
import tempfile
import unittest
import warnings

import counterworks
from tables import of_csv, of_hdf5, of_json, of_library, run

CAPTURES = pathlib.Path(os.environ["CW_SOURCE"]) / "data" / "captures"
PART, PARTS = map(int, os.environ.get("CW_PART", "0/1").split("/")) # of the captures, for tests at the same time
LARGE = ("all_", "runs_")  # named metrics of one of each will do
# Columns of some ways alone.
ALONE = {"ranges": {"xyz", "range"}, "samples": {"sample"}, "records": {"record", "instance", "value"},
         "batches": {"batch"}, "launches": set(), "values": {"value"}}


def alike(written, other):
    """JSON has the beginning and the end of a text of more than 4,095 bytes; an integer of the library has 64 bits."""
    if isinstance(written, str) and re.search(r"\.\.\.#[0-9a-f]{16}\.\.\.", written):
        begin, _, end = written.partition("...#")
        return other.startswith(begin) and other.endswith(end[19:])
    return written == other or (isinstance(written, int) and isinstance(other, int) and written == other % 2 ** 64)


class Ways(unittest.TestCase):
    maxDiff = 2000

    def compare_tables(self, name, one, other, ways):
        for table in sorted(set(one) & set(other)):
            a, b = one[table], other[table]
            lacking = (set(a) ^ set(b)) - ALONE.get(table, set())
            self.assertFalse(lacking, (name, table, ways))
            for column in set(a) & set(b):
                if a[column] != b[column]:
                    for one_cell, other_cell in zip(a[column], b[column], strict=True):
                        self.assertTrue(alike(one_cell, other_cell), (name, table, column, ways, one_cell, other_cell))

    def compare(self, path):
        name = path.name
        with tempfile.TemporaryDirectory() as folder:
            h5, js, table = (os.path.join(folder, f"a.{suffix}") for suffix in ("h5", "json", "csv"))
            words = [path, "--by", "range"] if name.startswith("multiplexed") else [path]
            run("metric-eval", *words, "-o", h5, "-o", js, "-q")
            json_tables, json_metrics = of_json(js)
            hdf5_tables, hdf5_metrics = of_hdf5(h5)
            library_tables, library_metrics, evaluated = of_library(str(path), counterworks)
            self.compare_tables(name, json_tables, hdf5_tables, "JSON and HDF5")
            self.compare_tables(name, json_tables, library_tables, "JSON and the library")
            ways = {"HDF5": hdf5_metrics, "views": library_metrics, "counterworks_evaluate": evaluated}
            for way, other in ways.items():
                self.assertEqual(set(other), set(json_metrics), (name, way))
                for metric, values in other.items():
                    self.assertEqual(values, json_metrics[metric], (name, metric, way))
            if json_metrics:
                run("metric-eval", *words, "-o", table, "--tidy", "-q")
                self.assertEqual(of_csv(table)[1], json_metrics, (name, "CSV"))
            else:
                self.compare_rows(name, words, json_tables, table)

    def compare_rows(self, name, words, tables, path):
        """CSV has the rows of one table; its texts are those of the numbers."""
        for kind, columns in tables.items():
            of_trace = not set(tables) & {"samples", "records"}
            if kind in ("batches", "values"):
                continue
            run("metric-eval", *words, "-o", path, "-q", "--force", *(["--kind", kind] if of_trace else []))
            rows = of_csv(path)[0]
            for column in set(rows) & set(columns):
                wanted = [None if v is None else str(v) for v in columns[column]]
                got = rows[column]
                if any(isinstance(v, float) for v in columns[column]):
                    got, wanted = ([None if v is None else float(v) for v in list_] for list_ in (got, wanted))
                self.assertEqual(got, wanted, (name, kind, column))
            self.assertFalse(set(columns) - set(rows), (name, kind))


def add(path):
    setattr(Ways, f"test_{path.stem}", lambda self: self.compare(path))


for nth, found in enumerate(sorted(CAPTURES.glob("*.cwd"))):
    if not found.name.startswith(LARGE) and nth % PARTS == PART:
        add(found)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
