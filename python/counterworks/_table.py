"""Tables of a view: columns and metrics as arrays."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence

import numpy as np

from counterworks._library import Local, UsageError, check, ffi, library, names_of, one_line, struct, text

if TYPE_CHECKING:
    import pandas
    import xarray

    from counterworks._capture import View

STATUSES = {number: text(library.counterworks_value_status_text(number))
            for number in names_of("", "value_status")}
_UNKNOWN = np.iinfo(np.int64).min
_BLOCK = 4096


class Column:
    """A column or a metric of a table: `name`, `unit` in UDUNITS notation and `meaning`."""

    def __init__(self, name: str, unit: str, meaning: str, cell: Optional[int] = None, width: int = 1,
                 number: int = 0) -> None:
        self.number = number  # in the library's table
        self.name, self.unit, self.meaning, self.cell, self.width = name, unit, meaning, cell, width

    def __repr__(self) -> str:
        return f"<counterworks.Column {one_line(self.name)}{' in ' + one_line(self.unit) if self.unit else ''}>"

    def attributes(self) -> dict[str, str]:
        pairs = {"units": self.unit, "long_name": self.meaning}
        return {key: value for key, value in pairs.items() if value}


class Table(Local):
    """Rows by columns, and a value with a status of each metric.

    table["total_ns"] is the array of a column, and table["sm__warps_active.avg"] that of a metric: NaN where it is
    missing. As of a DataFrame, `in` and iterating are of these names, and len is the number of rows. statuses(metric) has
    the status of each value, 0 for ok, as in STATUSES. Reads the view when first asked. Arrays are read-only, as the table
    keeps them: change a copy. Those of frames and datasets are copies."""

    _instead = "its data, such as to_dataframe()"

    def __init__(self, view: View, index: int) -> None:
        info = struct("table")
        library.counterworks_view_table(view.handle, index, info)
        self._handle, self._keep, self._source = view.handle, view._keep, view.source  # not the view: it keeps its tables
        self._index = index
        self.name = text(info.name)
        self.row_count = info.row_count
        self.has_spread = bool(info.spread)
        self._metric_count = info.metric_count
        self.columns = {c.name: c for c in map(self._column, range(info.column_count))}
        self.metrics = {m.name: m for m in map(self._metric, range(info.metric_count))}
        for name in self.columns.keys() & self.metrics.keys():
            raise UsageError(f"found the metric {name}, which is a column of the table {self.name}, expected another name")
        self._arrays: dict[str, np.ndarray] = {}
        self._values: Optional[list[np.ndarray]] = None

    def __len__(self) -> int:
        return self.row_count

    def __iter__(self) -> Iterator[str]:
        return iter({**self.columns, **self.metrics})

    def __contains__(self, name: object) -> bool:
        return name in self.columns or name in self.metrics

    def __repr__(self) -> str:
        return (f"<counterworks.Table {self.name}: {self.row_count} rows, {len(self.columns)} columns, "
                f"{len(self.metrics)} metrics>")

    def _column(self, i: int) -> Column:
        c = struct("column")
        library.counterworks_view_column(self._handle, self._index, i, c)
        return Column(text(c.name), text(c.unit), text(c.meaning), c.type, c.width, i)

    def _metric(self, i: int) -> Column:
        m = struct("view_metric_info")
        library.counterworks_view_metric(self._handle, self._index, i, m)
        return Column(text(m.name), text(m.unit), text(m.description), number=i)

    def _read(self, first: int, count: int, **parts: Any) -> None:
        check(library.counterworks_view_read, self._handle, self._index, first, count, struct("block", **parts))

    def _read_column(self, name: str) -> np.ndarray:
        column = self.columns[name]
        cells = ffi.new("struct counterworks_cells *", {"column": column.number})
        shape = (self.row_count,) if column.width == 1 else (self.row_count, column.width)
        if column.cell == library.COUNTERWORKS_TEXT:
            return self._read_texts(cells, shape)
        real = column.cell == library.COUNTERWORKS_REAL
        array = np.empty(shape, np.float64 if real else np.int64)
        setattr(cells, "reals" if real else "integers", ffi.cast("double *" if real else "int64_t *", array.ctypes.data))
        self._read(0, self.row_count, cells=cells, cell_count=1)
        return array

    def _read_texts(self, cells: Any, shape: tuple[int, ...]) -> np.ndarray:
        array = np.empty(shape, object)
        flat, width = array.reshape(-1), 1 if len(shape) == 1 else shape[1]
        pointers = cells.texts = ffi.new("const char *[]", _BLOCK * width)
        known = {}
        for first in range(0, self.row_count, _BLOCK):
            count = min(_BLOCK, self.row_count - first)
            self._read(first, count, cells=cells, cell_count=1)
            for i in range(count * width):
                pointer = pointers[i]
                if pointer not in known:
                    known[pointer] = text(pointer)
                flat[first * width + i] = known[pointer]
        return array

    def _read_metrics(self, **types: type) -> list[np.ndarray]:
        """Parts of a block, such as values=np.float64: arrays of rows by the library's metrics."""
        arrays = {part: np.empty((self.row_count, self._metric_count), kind) for part, kind in types.items()}
        self._read(0, self.row_count, **{part: ffi.cast("void *", a.ctypes.data) for part, a in arrays.items()})
        return list(arrays.values())

    def _both(self) -> list[np.ndarray]:
        """All values and statuses, read by the first call."""
        if self._values is None:
            self._values = [_frozen(a) for a in self._read_metrics(values=np.float64, statuses=np.int8)]
        return self._values

    def _of_metrics(self, array: np.ndarray) -> np.ndarray:
        """The columns of `metrics`, which may be fewer than the library's."""
        numbers = [metric.number for metric in self.metrics.values()]
        return _frozen(array if numbers == list(range(self._metric_count)) else array[:, numbers])

    @property
    def values(self) -> np.ndarray:
        """All values: an array of rows by metrics."""
        return self._of_metrics(self._both()[0])

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.metrics:
            return self._both()[0][:, self.metrics[name].number]
        if name not in self.columns:
            raise KeyError(f"found {name!r}, expected a metric or one of {', '.join(self.columns)}")
        if name not in self._arrays:
            self._arrays[name] = _frozen(self._read_column(name))
        return self._arrays[name]

    def statuses(self, metric: Optional[str] = None) -> np.ndarray:
        """The statuses of a metric, or of all: an array of rows by metrics."""
        if metric is not None and metric not in self.metrics:
            raise KeyError(f"found {metric!r}, expected a metric of the table {self.name}")
        statuses = self._both()[1]
        return self._of_metrics(statuses) if metric is None else statuses[:, self.metrics[metric].number]

    def spreads(self) -> Optional[np.ndarray]:
        """The standard deviation of each value over the launches that it was counted in: an array of rows by metrics.
        None of a table whose rows are not of launches that took turns (`has_spread`)."""
        if not self.has_spread:
            return None
        return self._of_metrics(self._read_metrics(spreads=np.float64)[0])

    def to_dataframe(self, statuses: bool = False) -> pandas.DataFrame:
        """A pandas DataFrame, whose attrs["units"] has the units. With `statuses` a column METRIC_status behind each
        metric has the status of its values, a Categorical of STATUSES."""
        import pandas

        data = {}
        for name, column in self.columns.items():
            array = self[name]
            if column.width > 1:
                data.update({f"{name}_{axis}": array[:, i] for i, axis in enumerate("xyz"[:column.width])})
            elif column.cell == library.COUNTERWORKS_INTEGER and len(array) and (array == _UNKNOWN).any():
                data[name] = pandas.array(array, dtype="Int64")
                data[name][array == _UNKNOWN] = pandas.NA
            else:
                data[name] = array
        for name in self.metrics:
            data[name] = self[name]
            if statuses:
                data[name + "_status"] = pandas.Categorical.from_codes(self.statuses(name), list(STATUSES.values()))
        frame = pandas.DataFrame(data)
        frame.attrs["units"] = {c.name: c.unit for c in (*self.columns.values(), *self.metrics.values()) if c.unit}
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """An xarray Dataset along one dimension, with units. Each metric has its statuses beside it, as a flag
        variable of the CF conventions."""
        import xarray

        row = re.sub("(?<=ch)es$|s$", "", self.name) or "row"
        variables: dict[str, tuple] = {}
        for name, column in self.columns.items():
            dims = (row,) if column.width == 1 else (row, f"{name}_axis")
            variables[name] = (dims, self[name].copy(), column.attributes())
        flags = {"flag_values": np.array(list(STATUSES), np.int8),
                 "flag_meanings": " ".join(s.replace(" ", "_") for s in STATUSES.values())}
        for name, metric in self.metrics.items():
            variables[name] = ((row,), self[name].copy(), {**metric.attributes(), "ancillary_variables": name + "_status"})
            variables[name + "_status"] = ((row,), self.statuses(name).copy(), flags)
        return xarray.Dataset(variables, attrs={"source": self._source})

    def _repr_html_(self, names: Optional[Sequence[str]] = None, most: int = 20) -> str:
        """Rows of a page. `names`: of the columns, in their order; by default all but mangled names of functions. Long
        texts end in dots, and are whole where the pointer rests."""
        count = min(most, self.row_count)
        mangled = "function" if "function" in self.columns else "kernel" if "group" in self.columns else ""
        heads = ([self.columns[name] for name in names] if names else
                 [h for h in (*self.columns.values(), *self.metrics.values()) if h.name != mangled])
        lines = ["<table><thead><tr>" + "".join(
            f'<th title="{escape(h.meaning or "")}">{escape(_head(h))}</th>' for h in heads) + "</tr></thead><tbody>"]
        for i in range(count):
            lines.append("<tr>" + "".join(_cell(h, self[h.name][i]) for h in heads) + "</tr>")
        rest = f"<p>{self.row_count - count} more rows</p>" if self.row_count > count else ""
        return "".join(lines) + "</tbody></table>" + rest


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def escape(shown: str) -> str:
    """Text for a page. Bytes that are no UTF-8 become question marks, as a notebook has to encode it."""
    return html.escape(shown.encode("utf-8", "replace").decode())


def _head(head: Any) -> str:
    """The name of a column, without the unit that its cells have."""
    name = head.name.replace("first_finding", "first finding").replace("limiter", "limited by")
    return name[:-3] if head.unit == "ns" and name.endswith("_ns") else f"{name} ({head.unit})" if head.unit not in ("", name) else name


def _time(ns: float) -> str:
    """Nanoseconds with the prefix that leaves one to three digits before the point."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(ns) >= factor:
            return f"{ns / factor:.4g} {unit}"
    return f"{ns:.4g} ns"


def _shown(head: Any, cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, np.ndarray):
        return " x ".join(map(str, cell))
    if isinstance(cell, np.floating):
        return "" if np.isnan(cell) else _time(cell) if head.unit == "ns" else \
            f"{cell:.1%}" if head.name == "share" else f"{cell:.6g}"
    return "" if cell == _UNKNOWN else str(cell)


def _cell(head: Any, cell: Any) -> str:
    shown = escape(_shown(head, cell))
    if not isinstance(cell, str):
        return f'<td style="white-space: nowrap">{shown}</td>'
    return (f'<td title="{shown}" style="text-align: left; max-width: 24em; overflow: hidden; text-overflow: ellipsis; '
            f'white-space: nowrap">{shown}</td>')
