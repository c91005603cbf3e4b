"""The tables of a capture, as each way out of the project has them: {table: {column: values}}, None for no value."""
import csv
import json
import os
import subprocess

import h5py
import numpy

BIN = os.environ.get("CW_BIN", "build/test/bin")
UNKNOWN = -2 ** 63  # an integer of the library that is not known
# names of HDF5 that are others elsewhere: groups, and columns of a group
GROUPS = {"range": "ranges", "pm": "samples", "launch": "launches", "pc": "samples", "pc/batch": "batches",
          "sass": "records"}
OF_METRICS = {"value", "status", "metric", "unit", "type", "description"}
COLUMNS = {("pm", "time_start"): "start_ns", ("pm", "time_end"): "end_ns", ("launch", "time_start"): "start_ns",
           ("launch", "time_end"): "end_ns", ("launch", "kernel"): "name"}


def run(command, *words):
    done = subprocess.run([os.path.join(BIN, command), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def cell(value):
    """A value as a number, a text, or None for no value."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, (numpy.generic, numpy.bool_)):
        value = value.item()
    return None if value is None or value == "" or value != value or value == UNKNOWN else value


def columns_of(rows):
    return {name: [cell(row.get(name)) for row in rows] for name in (rows[0] if rows else {})}


def of_json(path):
    """Tables, and the values and statuses of metrics: {metric: [(value, status)]}."""
    with open(path) as file:
        found = json.load(file)
    tables = {name: rows for name, rows in found.items() if isinstance(rows, list)}
    metrics = {}
    if "ranges" in tables:
        for row in tables["ranges"]:
            for metric in row.pop("metrics"):
                metrics.setdefault(metric["name"], []).append((cell(metric["value"]), metric["status"]))
            attributes = {"scope": "context", **row.pop("attributes", {})}
            row.update({name: attributes.get(name) for name in ("nvtx", "rank", "scope", "replay")})
            for name in ("grid", "block"):
                row.update(zip((f"{name}_{axis}" for axis in "xyz"), row.pop(name)))
    if found["capture"]["profiler"] == "pm":
        names = [metric["name"] for metric in tables.pop("metrics")]
        for row in tables["samples"]:
            for name, value, status in zip(names, row.pop("values"), row.pop("statuses")):
                metrics.setdefault(name, []).append((cell(value), status))
    return {name: columns_of(rows) for name, rows in tables.items()}, metrics


def of_csv(path):
    """The rows of a CSV file with a line for each value, as texts; and the values and statuses of metrics."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    metrics = {}
    for row in rows:
        if "status" in row and "metric" in row:
            metrics.setdefault(row["metric"], []).append((cell(float(row["value"])), row["status"]))
    return columns_of(rows), metrics


def hdf5_column(file, dataset):
    values, attributes = dataset[:].tolist(), dataset.attrs
    fill = attributes["_FillValue"].item() if "_FillValue" in attributes else None
    texts = file[attributes["index_into"]][:] if "index_into" in attributes else None
    known = [None if fill is not None and value == fill else value for value in values]
    return [None if value is None else cell(value if texts is None else texts[value]) for value in known]


def of_hdf5(path):
    tables, metrics = {}, {}
    with h5py.File(path) as file:
        groups = {name: file[name] for name in GROUPS if name in file}
        groups.update({f"timeline/{kind}": group for kind, group in file.get("timeline", {}).items() if kind != "text"})
        for name, group in groups.items():
            table = tables.setdefault(GROUPS.get(name, name.split("/")[-1]), {})
            for column, dataset in group.items():
                if isinstance(dataset, h5py.Group) or (name in ("range", "pm") and column in OF_METRICS):
                    continue
                if dataset.ndim == 2:
                    table.update({f"{column}_{axis}": list(map(cell, dataset[:, i])) for i, axis in enumerate("xyz")})
                else:
                    table[COLUMNS.get((name, column), column)] = hdf5_column(file, dataset)
            if name in ("range", "pm") and "value" in group:
                words = [word.replace("_", " ") for word in group["status"].attrs["flag_meanings"].split()]
                values, statuses = group["value"][:], group["status"][:]
                for i, metric in enumerate(group["metric"][:]):
                    metrics[metric.decode()] = [(cell(v), words[s]) for v, s in zip(values[:, i], statuses[:, i])]
    return tables, metrics


def of_library(path, counterworks):
    """By the views of the library, and by counterworks_evaluate."""
    capture = counterworks.open(path)
    view = capture.ranges() if capture.profiler == "ranges" else capture.view()
    tables, metrics, evaluated = {}, {}, {}
    for name, table in view.tables.items():
        named = list(table.metrics) if capture.has_metrics and name in ("ranges", "samples") else []
        tables[name] = {}
        for column in table.columns:
            array = table[column]
            parts = {column: array}
            if array.ndim == 2:
                parts = {f"{column}_{axis}": array[:, i] for i, axis in enumerate("xyz")}
            tables[name].update({part: list(map(cell, values)) for part, values in parts.items()})
        for metric in named:
            statuses = [counterworks.STATUSES[s] for s in table.statuses(metric)]
            metrics[metric] = list(zip(map(cell, table[metric]), statuses))
    if capture.has_metrics:
        values, statuses = capture.evaluate()
        for name, row, own in zip(metrics, values, statuses):
            evaluated[name] = [(cell(v), counterworks.STATUSES[s]) for v, s in zip(row, own)]
    return tables, metrics, evaluated
