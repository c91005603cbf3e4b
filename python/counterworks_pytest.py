"""For pytest: the fixture `counterworks`, and a gate for its captures.

    def test_step(counterworks):
        with counterworks.capture(["sm__inst_executed.sum"]) as c:
            step()
        assert c.kernels()["launches"].sum() == 3

With --counterworks-gate RULES.yaml --counterworks-base RUN.cwd a test fails where its capture is worse than the base,
ambiguous or incomparable, with the text of the command gate. The module of metrics is loaded by the first test that
needs it: tests without the fixture need no library."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Iterator, Optional

import pytest

if TYPE_CHECKING:
    from counterworks import Session


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("counterworks")
    group.addoption("--counterworks-gate", metavar="RULES.yaml", type=os.path.abspath,  # a test may change the folder
                    help="fail tests whose captures are worse than the base")
    group.addoption("--counterworks-base", metavar="RUN.cwd", type=os.path.abspath, help="the capture to compare with")


def pytest_configure(config: pytest.Config) -> None:
    if (config.getoption("--counterworks-gate") is None) != (config.getoption("--counterworks-base") is None):
        raise pytest.UsageError("found one of --counterworks-gate and --counterworks-base, expected both or none")


class Captures:
    """Captures of a test, by cw.capture(). Each is judged at the end of its block."""

    def __init__(self, base: Optional[str], rules: Optional[str]) -> None:
        self._base, self._rules = base, rules

    @contextlib.contextmanager
    def capture(self, *words: Any, **options: Any) -> Iterator[Session]:
        import counterworks as cw

        with cw.capture(*words, **options) as session:
            yield session
        if self._base is not None and self._rules is not None:
            judged = cw.gate(self._base, session, self._rules)
            if judged.verdict not in ("same", "better"):
                pytest.fail(str(judged), pytrace=False)


@pytest.fixture
def counterworks(pytestconfig: pytest.Config) -> Captures:
    """Captures the work of a block: counterworks.capture(...) is that of the package."""
    return Captures(pytestconfig.getoption("--counterworks-base"), pytestconfig.getoption("--counterworks-gate"))
