"""Chips, their metrics, and plans."""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import functools
import json
import os
import subprocess
import tempfile
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from counterworks._library import (Local, Notice, Path, Texts, UnsupportedError, Words, agent, check, encode, encode_path,
                                   ffi, library, listed, made, names_of, number_of, struct, text, warn)

_TYPES = names_of("COUNTERWORKS_", "metric_type")


@dataclasses.dataclass(frozen=True)
class Metric:
    """What a name means: `type`, `unit`, `formula` (a line for each term) and `description`."""

    name: str
    type: str
    unit: str
    formula: str
    description: str

    def describe(self) -> str:
        """The description and the formula as text.

        >>> print(chip("GH100")["dram__bytes_read.sum"].describe())  # doctest: +ELLIPSIS
        dram__bytes_read.sum: counter, bytes
        ...
        """
        return "\n".join(filter(None, [f"{self.name}: {self.type}, {self.unit}", self.description, self.formula]))


class Chip(Local, collections.abc.Mapping):
    """A chip and its metrics: a mapping of full names to Metric.

    Iterating gives the usual metric of each base name; `in` and [] know every name.

    >>> gh100 = chip("GH100")
    >>> gh100["sm__warps_active.avg.pct_of_peak_sustained_active"].unit
    '%'
    >>> "sm__warps_active.avg" in gh100, "no_such.avg" in gh100
    (True, False)
    """

    _instead = "its name: open the chip in the other process"

    def __init__(self, handle: Any, name: str) -> None:
        self._handle = handle
        self.name = name
        self._usual: Optional[list[str]] = None
        self._told = Texts()
        library.counterworks_chip_tell(handle, self._told.take, ffi.NULL)

    def _listed(self, function: Callable, *arguments: Any) -> list[str]:
        """Names that a function of the library takes from the chip."""
        return self._telling(lambda: listed(lambda take: check(function, self._handle, *arguments, take, ffi.NULL)))

    def _telling(self, call: Callable[[], Any]) -> Any:
        """Makes a call with the chip, and gives its notices as warnings. An error of the call goes before them."""
        try:
            result = call()
        except BaseException:
            with contextlib.suppress(Notice):  # where warnings are errors
                warn(self._told.all())
            raise
        warn(self._told.all())
        return result

    def __repr__(self) -> str:
        return f"<counterworks.Chip {self.name}>"

    def __getitem__(self, name: str) -> Metric:
        found = ffi.new("struct counterworks_metric **")
        try:
            check(library.counterworks_metric_find, found, self._handle, encode(name))
        except ValueError as error:
            raise KeyError(str(error)) from None
        m = ffi.gc(found[0], library.counterworks_metric_free)
        return Metric(os.fsdecode(name), _TYPES[m.type], text(m.unit), text(m.formula), text(m.description))

    def __iter__(self) -> Iterator[str]:
        if self._usual is None:
            self._usual = self._listed(library.counterworks_metric_each, library.COUNTERWORKS_USUAL)
        return iter(self._usual)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True

    def find(self, words: str) -> list[str]:
        """The names of metrics that words of yours mean, or a regular expression matches, the best first.

        >>> chip("GH100").find("l2 hit rate")[0]
        'lts__t_sector_hit_rate.pct'
        """
        return self._listed(library.counterworks_metric_search, encode(words))

    def set(self, name: Path) -> list[str]:
        """The metrics of a set, by its name or YAML file, that the chip can give."""
        return self._listed(library.counterworks_set_metrics, encode_path(name))

    def for_advice(self, rules: Optional[Path] = None) -> list[str]:
        """The metrics that advice needs, and that can be collected."""
        return self._listed(library.counterworks_advice_metrics, encode_path(rules) if rules else ffi.NULL)

    def add(self, path: Path) -> None:
        """Adds the metrics of a YAML file of yours."""
        check(library.counterworks_chip_add_metrics, self._handle, encode_path(path))

    def plan(self, metrics: Union[str, Iterable[str]], prefer: str = "whole", most_passes: int = 0,
             samples: bool = False) -> Plan:
        """Plans metrics; see plan()."""
        profiler = library.COUNTERWORKS_SAMPLES if samples else library.COUNTERWORKS_RANGES
        options = struct("plan_options", profiler=profiler, prefer=number_of(prefer, "COUNTERWORKS_", "preference"),
                         most_passes=most_passes)
        words = Words.of_metrics(metrics)
        return Plan(made(library.counterworks_plan_make, "counterworks_plan", library.counterworks_plan_free,
                         self._handle, words.array, words.count, options), self)


class Plan(Local):
    """Which counters to collect in which passes.

    `passes` is their number; no plan for these metrics has fewer than `bound`. `metrics` has the passes of each metric,
    counted from 0."""

    _instead = "its file: save the plan"

    def __init__(self, handle: Any, of: Chip) -> None:
        self._handle = handle
        self.chip = of
        bound = ffi.new("uint32_t *")
        self.passes = library.counterworks_plan_passes(handle, bound)
        self.bound = bound[0]
        self.metrics: dict[str, tuple[int, ...]] = {}
        self.whole: dict[str, bool] = {}
        name, passes, whole = ffi.new("const char **"), ffi.new("const uint32_t **"), ffi.new("bool *")
        for i in range(library.counterworks_plan_metric_count(handle)):
            count = library.counterworks_plan_metric(handle, i, name, passes, whole)
            self.metrics[text(name[0])] = tuple(passes[0][k] for k in range(count))
            self.whole[text(name[0])] = bool(whole[0])

    def __repr__(self) -> str:
        return f"<counterworks.Plan {len(self.metrics)} metrics of {self.chip.name} in {self.passes} passes>"

    def explain(self) -> str:
        """A line for each metric: its passes, and whether its counters share a pass."""
        return "\n".join(f"{name}: pass {', '.join(map(str, passes))}{'' if self.whole[name] else ' (mixed)'}"
                         for name, passes in self.metrics.items())

    def save(self, path: Path) -> None:
        """Writes the config image, for capture-agent."""
        check(library.counterworks_plan_save, self._handle, encode_path(path))


def chips() -> list[str]:
    """The names of all chips.

    >>> "GH100" in chips()
    True
    """
    data = made(library.counterworks_open, "counterworks", library.counterworks_close, ffi.NULL)
    return [text(library.counterworks_chip_name(data, i)) for i in range(library.counterworks_chip_count(data))]


def chip(name: Optional[str] = None) -> Chip:
    """Opens a chip by its name; None: that of this node's GPUs, which capture-agent describes. Raises UsageError for an
    unknown name, or GPUs of several chips.

    A simulated GPU (COUNTERWORKS_BACKEND=sim) is a GH100."""
    if name is None and os.environ.get("COUNTERWORKS_BACKEND") != "sim":
        return _chip_of_node()
    name = "GH100" if name is None else name
    return Chip(made(library.counterworks_chip_open, "counterworks_chip", library.counterworks_chip_close, ffi.NULL,
                     encode(name)), os.fsdecode(name))


@functools.lru_cache(maxsize=None)
def _facts() -> bytes:
    """The description of this node's GPUs by capture-agent, which takes a while."""
    with tempfile.TemporaryDirectory() as folder:
        facts = os.path.join(folder, "node.json")
        try:
            told = subprocess.run([agent(), "doctor", "-q", "--facts", facts], capture_output=True, text=True)
        except OSError as error:
            raise UnsupportedError(f"cannot run {agent()}: {error.strerror}; name it in COUNTERWORKS_AGENT, or put it "
                                   "into PATH") from None
        if not os.path.exists(facts):
            raise UnsupportedError((told.stdout + told.stderr).strip() or "capture-agent failed")
        with open(facts, "rb") as file:
            return file.read()


def _chip_of_node() -> Chip:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(_facts())
        file.flush()
        handle = made(library.counterworks_chip_open_node, "counterworks_chip", library.counterworks_chip_close,
                      ffi.NULL, encode_path(file.name), ffi.NULL)
    return Chip(handle, json.loads(_facts())["devices"][0]["chip"])


def plan(of: Union[Chip, str], metrics: Union[str, Iterable[str]], **options: Any) -> Plan:
    """Plans metrics by their full names, a list or a text with commas: `of` is a Chip or its name.

    Options: `prefer` "whole", "passes" or "time"; `most_passes`; `samples` for sampling over time, in one pass.

    >>> plan("GH100", ["sm__warps_active.avg.per_cycle_active", "dram__bytes_read.sum"]).passes
    1
    """
    return (of if isinstance(of, Chip) else chip(of)).plan(metrics, **options)
