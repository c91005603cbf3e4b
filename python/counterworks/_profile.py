"""A function's metrics for each of several configurations."""

from __future__ import annotations

import contextlib
import functools
import inspect
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

import numpy as np

from counterworks._collect import Session, What, capture, make_plan
from counterworks._library import UsageError
from counterworks._table import STATUSES, Table

if TYPE_CHECKING:
    import pandas

_MARK = "configuration {}"
_LATER = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction


def _arguments(configuration: Any) -> tuple[tuple, dict]:
    """A dict is arguments by name, a tuple arguments in order, and anything else the one argument."""
    if isinstance(configuration, dict):
        return (), configuration
    return (configuration if isinstance(configuration, tuple) else (configuration,)), {}


def _keys(table: Table, name: str) -> list:
    """What tells kernels apart."""
    return [(text, *grid, *block) for text, grid, block in zip(table[name], table["grid"], table["block"])]


def _configurations(paths: np.ndarray, count: int) -> np.ndarray:
    """The configuration of each launch. Ranges are of a thread: a launch of another one, as of PyTorch's backward pass,
    is of the configuration of the launch before."""
    marks, numbers, last = {_MARK.format(i): i for i in range(count)}, [], 0
    for path in paths:
        last = next((marks[name] for name in path.split("/") if name in marks), last)
        numbers.append(last)
    return np.array(numbers)


def _spreads(kernels: Table, launches: Table, mine: np.ndarray) -> np.ndarray:
    """The sample standard deviation of each value over the launches of its kernel."""
    spreads, keys = np.full(kernels.values.shape, np.nan), _keys(launches, "name")
    for row, key in enumerate(_keys(kernels, "group")):
        values = launches.values[mine & np.array([key == other for other in keys])]
        if len(values) > 1:
            spreads[row] = values.std(axis=0, ddof=1)
    return spreads


def _frame(captured: Session, launches: Table, mine: np.ndarray, units: dict) -> pandas.DataFrame:
    """The kernels of one configuration."""
    import pandas

    kernels = captured.kernels(ranges=",".join(map(str, launches["range"][mine]))).table
    frame = kernels.to_dataframe()
    units.update(frame.attrs["units"])
    spreads, statuses = kernels.spreads(), kernels.statuses()
    if spreads is None:
        spreads = _spreads(kernels, launches, mine)
    columns = {}
    for m, name in enumerate(kernels.metrics):
        columns[name], columns[name + "_spread"] = frame[name].array, spreads[:, m]
        columns[name + "_status"] = [STATUSES[status] for status in statuses[:, m]]
        units[name + "_spread"] = kernels.metrics[name].unit
    return pandas.DataFrame({**{name: frame[name].array for name in frame if name not in columns}, **columns})


class Profile:
    """A function that profile() decorates. A call of it is a call of the function; run() captures it, and table() has its
    metrics. `capture` is the capture of the last run."""

    def __init__(self, function: Callable, metrics: What, configs: Optional[Iterable], repeat: Optional[int],
                 warmup: int, options: dict) -> None:
        functools.update_wrapper(self, function)
        if isinstance(configs, (dict, str, bytes)):
            raise TypeError(f"found the configurations {configs!r}, expected a list of them")
        self._function, self._metrics, self._options = function, metrics, options
        self._configs = [((), {})] if configs is None else [_arguments(c) for c in configs]
        if not self._configs:
            raise UsageError("found an empty list of configurations, expected at least one, or None")
        if repeat is not None and repeat < 1:
            raise UsageError(f"found repeat={repeat}, expected at least 1, or None")
        if warmup < 0:
            raise UsageError(f"found warmup={warmup}, expected at least 0")
        if options.get("replay") == "user":
            raise UsageError("found replay='user', expected one without a loop of passes: a function has none")
        self._repeat, self._warmup = repeat, warmup
        self._kept: dict[str, Session] = {}
        self._objects: dict[int, dict] = {}
        self._owner: Any = None  # of a method

    def _named(self) -> list[dict]:
        """The arguments of each configuration, by name."""
        signature = inspect.signature(self._function)
        return [signature.bind(*words, **named).arguments for words, named in self._configs]

    @property
    def capture(self) -> Optional[Session]:
        return self._kept.get("capture")

    def __call__(self, *words: Any, **named: Any) -> Any:
        return self._function(*words, **named)

    def __get__(self, owner: Any, kind: Any = None) -> Profile:
        """The profile of a method of an object or class, whose capture lasts as long as that. The object itself has
        nothing of it: a subclass may have a method of the same name."""
        bind = getattr(self._function, "__get__", None)
        function = self._function if bind is None else bind(owner, kind)
        if function is self._function:
            return self
        owner = getattr(function, "__self__", kind if owner is None else owner)
        if id(owner) not in self._objects:
            with contextlib.suppress(TypeError):  # without weak references, each access is a profile of its own
                weakref.finalize(owner, self._objects.pop, id(owner), None).atexit = False
                self._objects[id(owner)] = {}
        bound = object.__new__(type(self))
        vars(bound).update(vars(self), _function=function, __wrapped__=function, _owner=owner,
                           _kept=self._objects.get(id(owner), {}))
        return bound

    def __reduce__(self) -> Any:
        """By its name, as a function; without captures."""
        return self.__qualname__ if self._owner is None else (getattr, (self._owner, self._function.__name__))

    def run(self) -> Profile:
        """Calls the function for each configuration, and captures that."""
        if any(later(self._function) for later in _LATER):
            raise TypeError(f"found {self._function!r}, a coroutine or generator, whose call does nothing, expected a "
                            "function that runs it")
        self._named()  # a mistake in the last configuration, before the first runs
        plan = make_plan(self._metrics, "kernels", self._options.get("chip"))
        once = self._options.get("replay") in ("kernel", "batch")  # each launch has all passes
        repeat = self._repeat or (1 if once else plan.passes)
        with capture(plan, started=False, **self._options) as c:
            for words, named in self._configs * self._warmup:
                self._function(*words, **named)
            c.start()
            for i, (words, named) in enumerate(self._configs):
                for _ in range(repeat):
                    with c.range(_MARK.format(i)):
                        self._function(*words, **named)
            c.stop()
        self._kept["capture"] = c
        return self

    def table(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row for each configuration and kernel, the longest first. Captures if run() did not.

        Beside the column of a metric are METRIC_spread, its standard deviation over launches, and METRIC_status.
        attrs["units"] has the units."""
        import pandas

        captured = self.capture or self.run().capture
        assert captured is not None
        launches = captured.ranges().table
        configurations = self._named()
        numbers = _configurations(launches["nvtx"], len(configurations))
        frames: list[pandas.DataFrame] = []
        units: dict[str, str] = {}
        for i, named in enumerate(configurations):
            mine = numbers == i
            if mine.any():
                frame = _frame(captured, launches, mine, units)
                for at, (name, value) in enumerate(named.items()):
                    column = pandas.Series([value] * len(frame), dtype=object).infer_objects()
                    frame.insert(at, name if name not in frame else "config_" + name, column)
                frames.append(frame)
        frame = pandas.concat(frames, ignore_index=True)
        frame.attrs["units"] = units
        return frame


def profile(metrics: What = "advice", configs: Optional[Iterable] = None, *, repeat: Optional[int] = None,
            warmup: int = 1, **options: Any) -> Callable[[Callable], Profile]:
    """Decorates a function, whose table() then has the metrics of its kernels for each configuration:

        @cw.profile(metrics=["dram__bytes_read.sum"], configs=[1024, 2048])
        def multiply(n):
            a @ a[:n].T
        print(multiply.table())

    `metrics` is as in capture(), but not the file of a plan. A configuration is a dict of arguments, a tuple of them, or
    the one argument. `repeat`: calls of each configuration; by default as many as the plan has passes, so that each
    launch can be counted in all of them in turn. `warmup`: calls of each configuration before, which are not collected.
    `options` are those of capture(), as `path` and `replay`, but not replay="user". It goes outside of @classmethod."""
    if callable(metrics):
        raise TypeError("found @profile without its parentheses, expected @profile()")
    return lambda function: Profile(function, metrics, configs, repeat, warmup, options)
