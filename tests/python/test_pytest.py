"""The plug-in for pytest: its fixture, and its gate."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

os.environ["COUNTERWORKS_BACKEND"] = "sim"
TEST = """
import os
import counterworks as cw

def test_step(counterworks):
    seed = ["--sim-seed", os.environ["SEED"]]
    with counterworks.capture(["smsp__inst_executed.sum"], path=os.environ.get("OUT"), arguments=seed) as c:
        cw.pretend("launch gemm")
    assert list(c.kernels()["launches"]) == [1]
"""
RULES = """
schema: 1
chip: GH100
metrics:
  smsp__inst_executed.sum: {better: less, noise: 0}
"""


@pytest.fixture
def project(pytester, monkeypatch):
    pytester.plugins = ["counterworks_pytest"]
    pytester.makepyfile(TEST)
    pytester.makefile(".yaml", gate=RULES)
    monkeypatch.setenv("SEED", "0")
    monkeypatch.setenv("OUT", "base.cwd")
    pytester.runpytest("-q").assert_outcomes(passed=1)
    monkeypatch.delenv("OUT")
    return pytester


def test_the_gate_fails_a_test(project, monkeypatch):
    options = ["--counterworks-gate", "gate.yaml", "--counterworks-base", "base.cwd"]
    project.runpytest(*options).assert_outcomes(passed=1)
    monkeypatch.setenv("SEED", "1")
    project.runpytest().assert_outcomes(passed=1)
    result = project.runpytest(*options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["worse: 1 values of 1 kernel compared, 1 beyond their noise",
                                 "    worse        smsp__inst_executed.sum"])


def test_the_gate_finds_its_files_from_another_folder(project):
    project.makepyfile(TEST.replace("(counterworks):", "(counterworks, monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)"))
    project.runpytest("--counterworks-gate", "gate.yaml", "--counterworks-base", "base.cwd").assert_outcomes(passed=1)


def test_mistakes(project):
    project.runpytest("--counterworks-gate", "gate.yaml").stderr.fnmatch_lines(["ERROR: found one of *expected both*"])
    result = project.runpytest("--counterworks-gate", "gate.yaml", "--counterworks-base", "none.cwd")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*FileError: */none.cwd: cannot open*"])


def test_the_installed_plug_in_may_be_named_as_well(pytester, monkeypatch):
    source = pathlib.Path(os.environ["CW_SOURCE"], "python", "pyproject.toml").read_text()
    entry = re.search(r'entry-points.pytest11]\n(.*)\n', source)[1].replace('"', "")
    installed = pytester.path / "site" / "counterworks-0.dist-info"
    installed.mkdir(parents=True)
    installed.joinpath("METADATA").write_text("Name: counterworks\nVersion: 0")
    installed.joinpath("entry_points.txt").write_text("[pytest11]\n" + entry)
    monkeypatch.setenv("PYTHONPATH", str(installed.parent), prepend=os.pathsep)
    pytester.makepyfile("def test(counterworks): pass")
    pytester.runpytest().assert_outcomes(passed=1)
    pytester.runpytest("-p", "counterworks_pytest").assert_outcomes(passed=1)
    pytester.makeconftest("pytest_plugins = ['counterworks_pytest']")
    pytester.runpytest().assert_outcomes(passed=1)


def test_other_tests_need_no_library(pytester):
    pytester.makepyfile("import sys\ndef test(): assert 'counterworks' not in sys.modules")
    command = [sys.executable, "-m", "pytest", "-p", "counterworks_pytest", "-q"]
    environment = dict(os.environ, COUNTERWORKS_LIBRARY="/nowhere/libcounterworks.so")
    assert subprocess.run(command, cwd=pytester.path, env=environment, check=False).returncode == 0
