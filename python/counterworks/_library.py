"""The shared library: how to call it, and its errors and notices."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from typing import Any, Callable, Iterable, Optional, Union

try:
    from counterworks._cffi import ffi
except ModuleNotFoundError as missing:  # the module is made when the package is built
    if missing.name != "counterworks._cffi":
        raise
    raise ImportError(f"found no {missing.name}, which a build of the package makes: pip install ./python") from None

Path = Union[str, "os.PathLike[str]"]
NAME = "libcounterworks.so.0"
_COLLECT = "libcounterworks-collect.so.0"
_OF_COLLECT = "counterworks_collect_", "counterworks_checkpoint_"  # how names of its functions begin


class Error(Exception):
    """A call failed. The text is "source:line:column: found ..., expected ..."; `status` is its name."""

    status = "failed"


class UsageError(Error, ValueError):
    """A name or an option is wrong."""

    status = "usage"


class InputError(Error, ValueError):
    """A file is malformed, cut, damaged or of another version."""

    status = "input"


class UnsupportedError(Error, NotImplementedError):
    """The chip or this library cannot do it."""

    status = "unsupported"


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    status = "io"


class Notice(UserWarning):
    """A line that is worth reading and is no error, such as "the capture is incomplete"."""


_ASKED = os.environ.get("COUNTERWORKS_LIBRARY", "")
if "/" in _ASKED:
    _ASKED = os.path.abspath(_ASKED)  # a program may change its folder


def _open(path: str, collects: bool) -> Any:
    """A library with all its functions, which another one, or one of another version, may lack."""
    found = ffi.dlopen(path)
    for name in dir(found):
        if name.startswith("counterworks_") and name.startswith(_OF_COLLECT) == collects:
            getattr(found, name)
    return found


def _load() -> Any:
    try:
        return _open(_ASKED or NAME, False)
    except (OSError, ffi.error) as error:
        raise ImportError(f"found no {_ASKED or NAME}, expected libcounterworks to be installed, or its path in "
                          f"COUNTERWORKS_LIBRARY ({error})") from None


library = _load()


_FOLDER = os.path.dirname(_ASKED)  # empty: the libraries are installed


@functools.lru_cache(maxsize=None)
def collect_library() -> Any:
    """libcounterworks-collect, loaded by the first call."""
    try:
        return _open(os.path.join(_FOLDER, _COLLECT), True)
    except (OSError, ffi.error) as error:
        raise UnsupportedError(f"found no {_COLLECT}, expected it to be installed, or beside COUNTERWORKS_LIBRARY "
                               f"({error})") from None


def agent() -> str:
    """The path of capture-agent, found as libcounterworks-collect finds it."""
    places = [os.path.join(_FOLDER, place, "capture-agent") for place in ("", "../bin", "../../bin") if _FOLDER]
    found = (path for path in places if os.access(path, os.X_OK))
    return os.environ.get("COUNTERWORKS_AGENT", "") or next(found, "capture-agent")


_ERRORS = {
    library.COUNTERWORKS_USAGE: UsageError,
    library.COUNTERWORKS_INPUT: InputError,
    library.COUNTERWORKS_UNSUPPORTED: UnsupportedError,
    library.COUNTERWORKS_IO: FileError,
}


def text(pointer: Any) -> Any:
    """A str of a C string, None of NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "surrogateescape")


def one_line(value: str) -> str:
    """Text of a file or its name within a line, as repr() has it: of a terminal's codes nothing is left."""
    return repr(value)[1:-1]


def encode(value: Union[Path, bytes]) -> bytes:
    """Bytes of a text for the library, in UTF-8."""
    encoded = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else os.fsencode(value)
    if b"\0" in encoded:
        raise UsageError(f"found a NUL in {value!r}, expected none: a text of C would end there")
    return encoded


def encode_path(path: Union[Path, bytes]) -> bytes:
    """Bytes of a path for the library, in the encoding of file names."""
    return encode(os.fsencode(path))


def names_of(prefix: str, kind: str) -> dict[int, str]:
    """The names of an enumeration of the library by number: {0: "ranges"}."""
    numbers = ffi.typeof("enum counterworks_" + kind).elements
    return {number: name[len(prefix):].lower() for number, name in sorted(numbers.items())
            if not name.endswith("_COUNT")}


def number_of(name: str, prefix: str, kind: str) -> int:
    """The number of a name of an enumeration, in any case of letters."""
    numbers = {known: number for number, known in names_of(prefix, kind).items()}
    if str(name).lower() not in numbers:
        raise UsageError(f"found the {kind} {name!r}, expected one of {', '.join(numbers)}")
    return numbers[str(name).lower()]


def struct(kind: str, **members: Any) -> Any:
    """A new structure of the library, with its size. An error names the member of a wrong type."""
    made = ffi.new(f"struct counterworks_{kind} *", {"size": ffi.sizeof(f"struct counterworks_{kind}")})
    for name, value in members.items():
        try:
            setattr(made, name, value)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"found {name}={value!r}: {error}") from None
    return made


class Local:
    """An object with memory of the library, which another process does not have."""

    _instead = ""  # what to send to another process

    def __reduce__(self) -> Any:
        raise TypeError(f"found a {type(self).__name__} to pickle or copy, expected {self._instead}")


def check(function: Callable, *arguments: Any) -> None:
    """Calls a function of the library whose last argument is an error. Raises the error."""
    error = ffi.new("struct counterworks_error *")
    status = function(*arguments, error)
    if status == library.COUNTERWORKS_OK:
        return
    if status == library.COUNTERWORKS_NOMEM:
        raise MemoryError
    buffer = ffi.new("char[1200]")
    message = text(library.counterworks_error_text(error, buffer, len(buffer)))
    raise _ERRORS.get(status, Error)(message)


def made(function: Callable, kind: str, close: Callable, *arguments: Any, size: int = 0) -> Any:
    """Calls a function that stores a new handle at its first argument. Returns the handle, which `close` ends."""
    result = ffi.new(f"struct {kind} **")
    check(function, result, *arguments)
    return ffi.gc(result[0], close, size)


class Notices:
    """Collects notices of some calls, and gives each as a warning in the end."""

    def __init__(self) -> None:
        self.list = made(library.counterworks_notices_open, "counterworks_notices", library.counterworks_notices_close)

    def warn(self) -> list[str]:
        lines = [text(library.counterworks_notices_text(self.list, i))
                 for i in range(library.counterworks_notices_count(self.list))]
        warn(lines)
        return lines


def warn(lines: list[str]) -> None:
    """Gives each notice as a warning at the user's own line."""
    for line in lines:
        warnings.warn(line, Notice, stacklevel=_level_outside())


def _level_outside() -> int:
    """How many calls the user's own line is above the caller."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


class Words:
    """Strings for a call, which live as long as this object: `array` of char * and `count`."""

    def __init__(self, values: Union[Path, bytes, Iterable[Union[Path, bytes]], None]) -> None:
        if isinstance(values, (str, bytes, os.PathLike)):
            values = [values]
        self.kept = [ffi.new("char[]", encode(value)) for value in (() if values is None else values)]
        self.count = len(self.kept)
        self.array = ffi.new("const char *[]", self.kept) if self.kept else ffi.NULL

    @classmethod
    def of_metrics(cls, names: Union[str, bytes, Iterable[Union[str, bytes]], None]) -> Words:
        """A list of names, or a text with commas between them, as the commands take it."""
        if not isinstance(names, (str, bytes)):
            return cls(names)
        found = os.fsdecode(names).replace(",", " ").split()
        if not found:
            raise UsageError(f"found no metric in {names!r}, expected names with commas between them, or a list")
        return cls(found)

    def put(self, names: Any) -> None:
        """Fills in a struct counterworks_names."""
        names.count, names.names = self.count, self.array


class Texts:
    """Texts that functions of the library pass to a callback, `take`."""

    def __init__(self, result: str = "void") -> None:
        found: list[str] = []
        failed: list[BaseException] = []

        def take(_user: Any, line: Any) -> Optional[bool]:
            found.append(text(line))
            return True if result == "bool" else None

        self._found, self._failed = found, failed
        self.take = ffi.callback(f"{result}(void *, const char *)", take,
                                 onerror=lambda _kind, error, _traceback: failed.append(error))

    def all(self) -> list[str]:
        """The texts since the last call. Raises the exception of a callback, such as Ctrl-C, which C does not pass on."""
        found = self._found[:]
        del self._found[:len(found)]
        if self._failed:
            raise self._failed.pop()
        return found


def listed(call: Callable[[Any], None]) -> list[str]:
    """Strings that a function of the library passes to a callback: call(callback, user)."""
    texts = Texts("bool")
    call(texts.take)
    return texts.all()
