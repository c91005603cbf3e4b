"""Captures, and views of one or several."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from counterworks._chip import Chip
from counterworks._chip import chip as open_chip
from counterworks._library import (Local, Notices, Path, UsageError, Words, check, encode, encode_path, ffi, library,
                                   listed, made, names_of, number_of, one_line, struct, text)
from counterworks._table import Table, escape

if TYPE_CHECKING:
    import pandas
    import xarray

Values = Tuple[np.ndarray, np.ndarray]
_PROFILERS = names_of("COUNTERWORKS_", "profiler")
_VERDICTS = names_of("COUNTERWORKS_", "verdict")


_LIMITS = ["launches", "total_ns", "share", "kernel", "limiter", "first_finding"]  # of a capture in Jupyter


class _Request:
    """A struct counterworks_request and the strings that it needs."""

    TEXTS = ("ranks", "ranges", "by", "sort", "kinds", "rules", "disassembler")
    PATHS = ("rules", "disassembler")  # which are TEXTS
    LISTS = {"kernels": "kernels", "exclude": "excluded", "filter": "filters", "metrics": "metrics"}
    NUMBERS = ("top", "every", "frame_ns", "region_ns", "least_gain", "full", "wide", "quiet")

    def __init__(self, form: str = "TABLE", **options: Any) -> None:
        self.struct = struct("request", form=number_of(form, "COUNTERWORKS_", "form"))
        self.kept: list[Any] = []
        for name, value in options.items():
            if value is not None:
                self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        known = (*self.TEXTS, *self.LISTS, *self.NUMBERS)
        if name not in known:
            raise TypeError(f"found the option {name!r}, expected one of {', '.join(known)}")
        try:
            self._set(name, value)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"found {name}={value!r}: {error}") from None

    def _set(self, name: str, value: Any) -> None:
        if name not in self.NUMBERS and not isinstance(value, (str, bytes, os.PathLike)) and np.iterable(value):
            value = list(value)
            if not value:
                raise UsageError(f"found an empty list for {name}, expected something in it, or None")
        if name in self.TEXTS:
            words = _text(value)
            self.kept.append(ffi.new("char[]", (encode_path if name in self.PATHS else encode)(words)))
            setattr(self.struct, name, self.kept[-1])
        elif name in self.LISTS:
            words = Words.of_metrics(value) if name == "metrics" else Words(value)
            words.put(getattr(self.struct, self.LISTS[name]))
            self.kept.append(words)
        else:
            setattr(self.struct, name, value)


def _text(value: Any) -> Union[str, bytes]:
    """The text of an option, which has commas between the items of a list."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fspath(value)
    return ",".join(map(str, value)) if np.iterable(value) else str(value)


class View(Local):
    """Part of a capture: `tables`, a text for people (str), and files (save).

    A view of one table stands for it: view["total_ns"], "total_ns" in view, view.to_dataframe(), view.to_xarray().
    That of a gate has its `verdict`: "same", "better", "ambiguous", "worse" or "incomparable"."""

    _instead = "its data, such as to_dataframe()"
    verdict: str

    def __init__(self, function: Callable, arguments: tuple, request: _Request, source: str, keep: Any,
                 listed: Optional[Callable[[], View]] = None) -> None:
        notices = Notices()
        self._list = listed  # makes the view whose text is this one's
        self.handle = made(function, "counterworks_view", library.counterworks_view_close, *arguments,
                           request.struct, notices.list)
        self._keep = keep  # captures and chip, which have to live longer
        self.source = source
        self.notices = notices.warn()
        self.tables = {t.name: t for t in (Table(self, i) for i in range(
            library.counterworks_view_table_count(self.handle)))}

    @property
    def table(self) -> Table:
        """The first table."""
        if not self.tables:
            raise UsageError("found a view without tables, expected one with: print it, or save it")
        return next(iter(self.tables.values()))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.table[name]

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __contains__(self, name: object) -> bool:
        return name in self.table

    def statuses(self, metric: Optional[str] = None) -> np.ndarray:
        """The statuses of a metric of the first table, or of all."""
        return self.table.statuses(metric)

    def to_dataframe(self, statuses: bool = False) -> pandas.DataFrame:
        """The first table as a pandas DataFrame (Table.to_dataframe)."""
        return self.table.to_dataframe(statuses)

    def to_xarray(self) -> xarray.Dataset:
        """The first table as an xarray Dataset."""
        return self.table.to_xarray()

    def save(self, path: Path) -> None:
        """Writes a file with the format of its suffix: .csv, .json, .h5, .html, .pftrace..."""
        notices = Notices()
        check(library.counterworks_view_save, self.handle, encode_path(path), notices.list)
        notices.warn()

    def text(self, width: int = 0, top: int = 0) -> str:
        """The text for people, in `width` columns; 0: as wide as it needs."""
        if self._list:
            return self._list().text(width, top)
        buffer, size, options = ffi.new("char **"), ffi.new("size_t *"), struct("print_options", width=width, top=top)
        out = library_c.open_memstream(buffer, size)
        try:
            check(library.counterworks_view_print, self.handle, out, options)
        finally:
            library_c.fclose(out)
            shown = text(buffer[0])
            library_c.free(buffer[0])
        return shown

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<counterworks.View of {one_line(self.source)}: {', '.join(self.tables) or 'text'}>"

    def _repr_html_(self) -> Optional[str]:
        return "".join(t._repr_html_() for t in self.tables.values()) or None


library_c = ffi.dlopen(None)


class Capture(Local):
    """A capture: made by open(). It holds its file until close(), or the end of a block: with open(...) as run.

    `chip` is the name of its chip, `profiler` "ranges", "samples", "pc_samples", "instructions" or "trace", `metrics`
    the metrics that its plan names, `complete` whether it came to its end, `passes` and `devices` their numbers."""

    _instead = "its path: open the file in the other process"
    _ranks: Union[str, bytes, None] = None  # of open(), which may have read others, too

    def __init__(self, handle: Any, source: str, chip: Optional[Chip] = None) -> None:
        self._handle = handle
        self.source = source
        info = struct("capture_info")
        library.counterworks_capture_describe(handle, info)
        self.chip = text(info.chip)
        self.profiler = _PROFILERS[info.profiler]
        self.complete, self.has_metrics = bool(info.complete), bool(info.has_metrics)
        self.row_count, self.dropped = info.row_count, info.dropped
        self.devices, self.passes = info.device_count, info.pass_count
        self.metrics = [text(info.metrics[i]) for i in range(info.metric_count)]
        self._chip = chip

    @property
    def handle(self) -> Any:
        """The library's capture, which each view keeps for itself."""
        if self._handle is None:
            raise UsageError(f"found the capture {self.source} closed, expected an open one")
        return self._handle

    def close(self) -> None:
        """Closes the file. Views that were made before stay, and hold it."""
        self._handle = None

    def __enter__(self) -> Capture:
        self.handle
        return self

    def __exit__(self, *_failed: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        kind = f"{self.profiler} of {one_line(self.chip or 'no chip')}" if self._handle is not None else "closed"
        return f"<counterworks.Capture {one_line(self.source)}: {kind}>"

    def _repr_html_(self) -> Optional[str]:
        """The kernels with what limits each, the longest first; of samples, the rows."""
        if self._handle is None:
            return None
        shown, names = {"ranges": (self.advise, _LIMITS), "trace": (self.kernels, None)}.get(self.profiler, (self.view, None))
        heading = f"<p>{escape(self.source)}: {self.profiler} of {escape(self.chip or 'no chip')}</p>"
        return heading + shown().table._repr_html_(names)

    def _open_chip(self) -> Optional[Chip]:
        if not self.has_metrics:
            return None
        if self._chip is None:
            self._chip = open_chip(self.chip)
        return self._chip

    def _chip_handle(self) -> Any:
        chip = self._open_chip()
        return ffi.NULL if chip is None else chip._handle

    def view(self, form: str = "TABLE", **request: Any) -> View:
        """A view of some rows: by="kernel", top=10, sort="share", filter=["share > 0.05"], metrics=[...],
        kernels=[...], ranges="0-9"... as the commands take them."""
        asked, of = _of_ranks(request, self), (self.handle, self._chip_handle())

        def view(form: str, asked: dict, listed: Optional[Callable[[], View]] = None) -> View:
            return View(library.counterworks_view_open, of, _Request(form, **asked), self.source,
                        (of, self, self._chip), listed)

        plain = {name: value for name, value in asked.items() if name != "kinds"}  # only tables have kinds
        return view(form, asked, (lambda: view("LIST", plain)) if form == "TABLE" else None)

    def kernels(self, **request: Any) -> View:
        """A row for each kernel, longest first."""
        return self.view(by="kernel", **request)

    def by(self, what: str, **request: Any) -> View:
        """Rows by "kernel", "family", "nvtx", "stream", "device", "rank"..."""
        return self.view(by=what, **request)

    def ranges(self, **request: Any) -> View:
        """A row for each range, in order."""
        return self.view(by="range", **request)

    def advise(self, samples: Union[Capture, Path, None] = None, least_gain: float = 0.05, **request: Any) -> View:
        """What limits each kernel, and what to change: tables "kernels" and "findings". `least_gain`: leaves out findings
        that would save a smaller part of a kernel's time."""
        pc = None if samples is None else _opened(samples)
        of = self.handle, self._chip_handle(), pc.handle if pc else ffi.NULL
        return View(library.counterworks_advise, of, _Request(least_gain=least_gain, **_of_ranks(request, self)), self.source,
                    (of, self, self._chip, pc))

    def explain(self, metric: str, range: Union[str, int, None] = None, **request: Any) -> View:
        """How a value came about, as text."""
        of = self.handle, self._chip_handle(), encode(metric)
        return View(library.counterworks_explain, of, _Request(ranges=range, **_of_ranks(request, self)), self.source,
                    (of, self, self._chip))

    def show(self) -> View:
        """What the capture holds, as text."""
        of = (self.handle,)
        return View(lambda view, handle, _request, notices, error: library.counterworks_show(
            view, handle, notices, error), of, _Request(), self.source, (of, self))

    def report(self, path: Path, **request: Any) -> None:
        """Writes a page of HTML."""
        View(library.counterworks_report, (self.handle, self._chip_handle(), ffi.NULL), _Request(**_of_ranks(request, self)),
             self.source, (self, self._chip)).save(path)

    def available(self) -> list[str]:
        """The metrics whose counters are all in the capture."""
        return listed(lambda take: check(library.counterworks_capture_metric_each, self.handle, self._chip_handle(),
                                         take, ffi.NULL))

    def evaluate(self, metrics: Union[str, Iterable[str], None] = None, frame_ns: float = 0, region_ns: float = 0,
                 out: Optional[Values] = None) -> Values:
        """Values and statuses of metrics on every range or sample: two arrays of metrics by rows.

        The fastest way to many values. `out`: such a pair of arrays of an earlier call, to write into."""
        words = Words.of_metrics(self.metrics if metrics is None else metrics)
        shape = (words.count, self.row_count)
        values, statuses = (np.empty(shape), np.empty(shape, np.int8)) if out is None else out
        for array, kind in ((values, np.float64), (statuses, np.int8)):
            if not isinstance(array, np.ndarray):
                raise TypeError(f"found out of {type(array).__name__}, expected two NumPy arrays")
            if array.shape != shape or array.dtype != kind or not array.flags.carray:
                raise UsageError(f"found out of shape {array.shape} and type {array.dtype}, expected {shape} and "
                                 f"{np.dtype(kind)}, contiguous, aligned and writeable")
        options = struct("evaluate_options", frame_ns=frame_ns, region_ns=region_ns)
        call = functools.partial(check, library.counterworks_evaluate, self.handle, self._chip_handle(), words.array,
                                 words.count, options, ffi.cast("double *", values.ctypes.data),
                                 ffi.cast("int8_t *", statuses.ctypes.data))
        if self._chip is None:
            call()
        else:
            self._chip._telling(call)
        return values, statuses


def _of_ranks(request: dict, *captures: Capture) -> dict:
    """A request for the ranks that the captures were opened for."""
    asked = {capture._ranks for capture in captures if capture.profiler in ("ranges", "trace")}
    if "ranks" in request or asked <= {None}:
        return request
    if len(asked) > 1:
        raise UsageError(f"found captures of the ranks {' and '.join(map(str, asked))}, expected one `ranks` for both; "
                         "ranks=None takes all that was read")
    return {"ranks": asked.pop(), **request}


def _files(paths: Iterable[Union[Path, Iterable[Path]]]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)) and not np.iterable(path):
            raise TypeError(f"found {path!r}, expected a path or a list of paths")
        files.extend([path] if isinstance(path, (str, bytes, os.PathLike)) else path)
    return files


def open(*paths: Union[Path, Iterable[Path]], ranks: Union[str, int, Iterable[int], None] = None,
         chip: Union[Chip, str, None] = None) -> Capture:
    """Opens a capture: a file, several files, a folder of them, or "@LIST". `ranks` of a job, as "0-7,12": views have
    these alone; row_count and evaluate() have all that was read, unless the folder has an index. `chip`: a Chip with
    metrics of your own.

    Notices, such as that a capture is incomplete, are warnings."""
    files = _files(paths)
    of = chip if chip is None or isinstance(chip, Chip) else open_chip(chip)
    opened = Capture(open_files(files, ranks), ", ".join(os.fsdecode(file) for file in files), of)
    opened._ranks = None if ranks is None else _text(ranks)
    return opened


def open_files(paths: Sequence[Path], ranks: Union[str, int, Iterable[int], None] = None) -> Any:
    """The handle of a capture."""
    words, notices = Words(map(os.fsencode, paths)), Notices()
    kept = ffi.NULL if ranks is None else ffi.new("char[]", encode(_text(ranks)))
    options = struct("files_options", ranks=kept)
    handle = made(library.counterworks_capture_open_files, "counterworks_capture",
                  library.counterworks_capture_close, words.array, words.count, options, notices.list)
    notices.warn()
    return handle


def _opened(capture: Union[Capture, Path]) -> Capture:
    return capture if isinstance(capture, Capture) else open(capture)


def _side(capture: Capture) -> Any:
    return ffi.new("struct counterworks_side *", {"capture": capture.handle, "chip": capture._chip_handle()})


def _compare(function: Callable, before: Union[Capture, Path], after: Union[Capture, Path], *more: Any,
             **request: Any) -> View:
    before, after = _opened(before), _opened(after)
    sides = _side(before), _side(after)
    return View(function, (*sides, *more), _Request(**_of_ranks(request, before, after)), f"{before.source} and {after.source}",
                (before, before.handle, after, after.handle, before._chip, after._chip, sides))


def diff(before: Union[Capture, Path], after: Union[Capture, Path], **request: Any) -> View:
    """What changed between two captures (or their paths), of ranges or two traces."""
    return _compare(library.counterworks_diff, before, after, **request)


def gate(before: Union[Capture, Path], after: Union[Capture, Path], rules: Path, need: float = 0,
         **request: Any) -> View:
    """Whether `after` is worse than `before`, by a file of rules: see the view's `verdict`."""
    view = _compare(library.counterworks_gate, before, after, encode_path(rules), need, **request)
    view.verdict = _VERDICTS[library.counterworks_view_verdict(view.handle)]
    return view


def join(trace: Union[Capture, Path], capture: Union[Capture, Path], samples: Union[Capture, Path, None] = None,
         **request: Any) -> View:
    """A trace with the metrics of a capture of another run of the program."""
    trace, capture = _opened(trace), _opened(capture)
    pc = None if samples is None else _opened(samples)
    of = trace.handle, capture.handle, capture._chip_handle(), pc.handle if pc else ffi.NULL

    def view(form: str, listed: Optional[Callable[[], View]] = None) -> View:
        return View(library.counterworks_join, of, _Request(form, **_of_ranks(request, trace, capture)), trace.source,
                    (of, trace, capture, pc, capture._chip), listed)

    return view("TABLE", lambda: view("LIST"))


def ranks(*paths: Union[Path, Iterable[Path]], **request: Any) -> View:
    """How the ranks of a parallel job differ: of files or a folder."""
    files = _files(paths)
    words, first = Words(map(os.fsencode, files)), open(*files)
    return View(library.counterworks_ranks, (words.array, words.count, first._chip_handle()), _Request(**request),
                first.source, (first, first._chip, words))
