"""Captures of the running process, by libcounterworks-collect."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import threading
import weakref
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

from counterworks._capture import Capture, open_files
from counterworks._chip import Chip, Plan
from counterworks._chip import chip as open_chip
from counterworks._library import (Error, Local, Notice, Texts, UsageError, Words, check, collect_library, encode, ffi,
                                   names_of, one_line, struct, warn)

_KINDS = {name: number for number, name in names_of("COUNTERWORKS_COLLECT_", "collect_kind").items()}
_SETS = {"kernels": "advice", "ranges": "advice", "samples": "pm-overview"}  # without words of the user
What = Union[str, Iterable[str], os.PathLike, Plan, None]


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # a child by fork has the same object
        shutil.rmtree(folder, ignore_errors=True)


def make_plan(what: Any, kind: str, chip: Union[Chip, str, None]) -> Plan:
    """Plans a set, by its name or file, or metrics, a list or a text with commas; returns a plan as it is."""
    if isinstance(what, Plan):
        return what
    of = chip if isinstance(chip, Chip) else open_chip(chip)
    if isinstance(what, os.PathLike) or (isinstance(what, str) and "," not in what):
        what = of.for_advice() if what == "advice" else of.set(what)
    return of.plan(what, samples=kind == "samples")


class _Range(contextlib.ContextDecorator):
    """A range of a session: made by Session.range()."""

    def __init__(self, session: Session, name: str) -> None:
        self._of, self._name, self._encoded = session, name, encode(name)

    def _open(self) -> list[_Range]:
        """The ranges that this thread has open, the outermost first."""
        return vars(self._of._ranges).setdefault("open", [])

    def _push(self) -> None:
        collect_library().counterworks_collect_push(self._of._session, self._encoded)

    def __enter__(self) -> None:
        self._open().append(self)
        self._push()

    def __exit__(self, *_failed: Any) -> None:
        ranges = self._open()
        at = next((i for i in reversed(range(len(ranges))) if ranges[i] is self), None)
        if at is None:
            raise UsageError(f"found the end of the range {self._name!r} in a thread that did not begin it, "
                             "expected the thread of its beginning")
        for _ in ranges[at:]:
            collect_library().counterworks_collect_pop(self._of._session)
        del ranges[at]
        for other in ranges[at:]:
            other._push()


class Session(Capture):
    """A capture of this process: made by capture().

    It collects within its block. Behind the block it is an open capture, `path` is its file, and `notices` are the
    agent's lines."""

    def __init__(self, what: What, kind: str, path: Union[str, os.PathLike, None], replay: Optional[str],
                 arguments: Sequence[str], chip: Union[Chip, str, None], started: bool) -> None:
        if kind not in _KINDS:
            raise UsageError(f"found the kind {kind!r}, expected one of {', '.join(_KINDS)}")
        if isinstance(arguments, str):
            raise UsageError(f"found arguments {arguments!r}, expected a list of words")
        self._what, self._kind, self._replay, self._started = what, kind, replay, started
        self._arguments, self._asked_chip = list(arguments), chip
        self._session, self._process, self._ranges = ffi.NULL, os.getpid(), threading.local()
        self._folder = tempfile.mkdtemp(prefix="counterworks.")
        self._removed = weakref.finalize(self, _remove, self._folder, os.getpid())
        self.path = os.path.abspath(os.path.join(self._folder, "run.cwd") if path is None else os.fsdecode(path))

    def __getattr__(self, name: str) -> Any:
        if "_handle" in vars(self):
            return object.__getattribute__(self, name)  # which raises
        raise AttributeError(f"found no {name!r} of a capture that is not complete, expected its block to end before")

    def __repr__(self) -> str:
        if "_handle" in vars(self):
            return super().__repr__()
        return f"<counterworks.Session of {self._kind}: {one_line(self.path)}>"

    def _plan(self) -> Optional[str]:
        """The path of the plan; None for kinds without counters, of which SASS metrics become an option."""
        what: Any = self._what if self._what is not None else _SETS.get(self._kind)
        if what is None:
            return None
        if self._kind == "instructions":
            names = [what] if isinstance(what, str) else list(what)
            if not names:
                raise UsageError("found an empty list of SASS metrics, expected at least one, or None")
            self._arguments += ["-m", ",".join(names)]
            return None
        if self._kind not in _SETS:
            raise UsageError(f"found {what!r} for a capture of {self._kind}, expected no metrics")
        if isinstance(what, (str, os.PathLike)) and os.fsdecode(what).endswith(".cwc"):
            return os.fspath(what)
        plan = make_plan(what, self._kind, self._asked_chip)
        self._asked_chip = plan.chip
        path = os.path.join(self._folder, "plan.cwc")
        plan.save(path)
        return path

    def __enter__(self) -> Session:
        if self._session or "_handle" in vars(self):
            raise UsageError("found a second block of one capture, expected a capture for each block")
        plan, words = self._plan(), Words(self._arguments)
        texts = {name: ffi.new("char[]", encode(value)) for name, value in
                 {"output": os.fsencode(self.path), "plan": plan and os.fsencode(plan), "replay": self._replay}.items()
                 if value is not None}
        options = struct("collect_options", arguments=words.array, argument_count=words.count, started=self._started,
                         **texts)
        session = ffi.new("struct counterworks_collect **")
        check(collect_library().counterworks_collect_open, session, _KINDS[self._kind], options)
        self._session = session[0]
        return self

    def __exit__(self, _kind: Any, failed: Optional[BaseException], _traceback: Any) -> None:
        session, self._session, told = self._session, ffi.NULL, Texts()
        try:
            check(collect_library().counterworks_collect_close, session, told.take, ffi.NULL)
        except Error:
            self.notices = told.all()
            if failed:
                return
            with contextlib.suppress(Notice):  # where warnings are errors
                warn(self.notices)  # the reasons
            raise
        self.notices = told.all()
        if failed:
            return
        super().__init__(open_files([self.path]), self.path,
                         self._asked_chip if isinstance(self._asked_chip, Chip) else None)
        warn([line for line in self.notices if not line.startswith("recorded ") or "(" in line])  # a trace counts its rows

    def __del__(self) -> None:
        """Ends a session whose block never ended, as of a generator: another could not begin."""
        if vars(self).get("_session") and os.getpid() == self._process and not sys.is_finalizing():
            self.__exit__(None, RuntimeError("the block did not end"), None)

    def _repr_html_(self) -> Optional[str]:
        return super()._repr_html_() if "_handle" in vars(self) else None

    def close(self) -> None:
        """Closes the file, which is complete behind the block."""
        if "_handle" not in vars(self):
            raise UsageError("found a capture that is not complete, expected its block to end before")
        super().close()

    def start(self) -> None:
        """Collects from here on. The block itself starts unless `started` is False."""
        collect_library().counterworks_collect_start(self._session)

    def stop(self) -> None:
        """Collects nothing from here on."""
        collect_library().counterworks_collect_stop(self._session)

    def flush(self) -> None:
        """Ends what is being collected, and writes it to the file, which can be read meanwhile."""
        collect_library().counterworks_collect_flush(self._session)

    def range(self, name: str) -> _Range:
        """A block that is a range of this name, inside the ranges of this thread that are open. It may be used again, in
        other threads and within itself. Blocks may overlap, as in tasks of asyncio: the end of the outer one begins the
        inner one anew."""
        return _Range(self, name)

    def passes(self, name: str = "step") -> Iterator[int]:
        """A loop that repeats its body, as a range of this name, until all passes are there: for replay="user", else
        once. Device memory is restored between passes; leave the loop only at its end."""
        number = ffi.new("int *")
        while collect_library().counterworks_collect_pass(self._session, encode(name), number):
            yield number[0] - 1


class Checkpoint(Local):
    """The content of the current context's memory: made by checkpoint()."""

    _instead = "to save in the process whose memory it is"

    def __init__(self, reserve_device: Optional[int], reserve_host: Optional[int], same_changes: bool) -> None:
        every = ffi.cast("size_t", -1)
        self._options = struct("checkpoint_options", reserve_device=every if reserve_device is None else reserve_device,
                               reserve_host=every if reserve_host is None else reserve_host, same_changes=same_changes)
        self._saved, self._process = ffi.new("struct counterworks_checkpoint **"), os.getpid()
        self.save()

    def save(self) -> None:
        """Saves again, in place of the content from before."""
        check(collect_library().counterworks_checkpoint_save, self._saved, self._options)

    def restore(self) -> None:
        """Puts the content back, after all work of the context."""
        if not self._saved[0]:
            raise UsageError("found a checkpoint that was freed, expected one with content")
        check(collect_library().counterworks_checkpoint_restore, self._saved[0])

    def free(self) -> None:
        """Frees the copy, as the end of a block does."""
        saved, self._saved[0] = self._saved[0], ffi.NULL
        collect_library().counterworks_checkpoint_free(saved)

    def __del__(self) -> None:
        if vars(self).get("_process") == os.getpid() and not sys.is_finalizing():
            self.free()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_failed: Any) -> None:
        self.free()


def checkpoint(reserve_device: Optional[int] = 0, reserve_host: Optional[int] = 0,
               same_changes: bool = False) -> Checkpoint:
    """Saves the content of the current context's device memory and pinned memory, to put it back any number of times:

        with cw.checkpoint() as memory:
            for block in 64, 128, 256:
                kernel(x, block)      # changes x
                memory.restore()

    `reserve_device`, `reserve_host`: MiB that stay free; None saves nothing there. `same_changes`: each restore puts
    back only what the first one found changed. No session is needed."""
    return Checkpoint(reserve_device, reserve_host, same_changes)


def pretend(event: str) -> None:
    """Pretends an event such as "launch gemm", where the session has a simulated GPU (COUNTERWORKS_BACKEND=sim)."""
    collect_library().counterworks_collect_pretend(encode(event))


def capture(what: What = None, *, kind: str = "kernels", path: Union[str, os.PathLike, None] = None,
            replay: Optional[str] = None, arguments: Sequence[str] = (), chip: Union[Chip, str, None] = None,
            started: bool = True) -> Session:
    """Captures this process within a block:

        with cw.capture("advice") as c:
            step()
        print(c.kernels())

    `what` is "advice" (the default), the name or file of a set, metrics (a list, or a text with commas), a Plan or the
    file of one (.cwc); for kind "instructions" it is SASS metrics, and nothing for "pc" and "trace".

    `kind`: "kernels", "ranges" (of range() or passes()), "samples", "pc", "instructions" or "trace". `path`: the file; by
    default a temporary one, which goes with the capture. `replay`: "batch" (default before the first context of CUDA),
    "kernel", "multiplex" (default later) or "user". `arguments`: options of the command, as in ["--kernel", "gemm"].
    `chip`: a Chip or its name; by default that of this node's GPUs. `started`: False waits for start().

    A failure raises an error with the agent's line. Errors of the block itself pass on; then the file, if you named it,
    has everything that was complete. Lines of the agent, as of work that it could not collect, are warnings of the class
    Notice."""
    return Session(what, kind, path, replay, arguments, chip, started)
