"""One place reads the time and sleeps, and chance is always drawn from a seed: everything else is handed a clock."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("topics", "protocols", "recordings", "simulators", "scoring", "harvest")
ALLOWED = {
    "harvest/systems/timing.py": {"time", "asyncio.sleep"},  # the place
    "recordings/files/times.py": {"datetime.now"},  # the time of day, which recordings need as well
    "recordings/files/lock.py": {"time"},  # waits for other processes, which no clock of ours could hurry
    "harvest/drivers/supervisor.py": {"time"},  # a program of its own, which imports nothing of ours
}
_MODULES = frozenset({"time", "random"})
_CALLS = frozenset(
    {"asyncio.sleep", "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "get_running_loop.time"}
)

_WORDS = re.compile(r"\b(?:time|random|sleep|now|utcnow|today|default_rng|wait_for_timeout)\b")


def found(code: str) -> Iterator[tuple[int, str]]:
    """(line, what) of all that reads the time, sleeps, or draws from no seed."""
    if not _WORDS.search(code):  # most files, which need not be parsed
        return
    nodes = list(ast.walk(ast.parse(code)))
    yielding = {node.func for node in nodes if isinstance(node, ast.Call) and _yields(node)}
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, one.name) for one in names if one.name in _MODULES)
            case ast.ImportFrom(module=module, level=0, names=names):
                for one in names:
                    if module in _MODULES or f"{module}.{one.name}" in _CALLS:
                        yield node.lineno, module if module in _MODULES else f"{module}.{one.name}"
            case ast.Call(func=ast.Attribute(attr="wait_for_timeout")):
                yield node.lineno, "wait_for_timeout"
            case ast.Call(func=ast.Attribute(attr="default_rng") | ast.Name(id="default_rng"), args=[]):
                yield node.lineno, "default_rng()"
            case ast.Attribute(attr=attr, value=ast.Attribute(attr="random", value=ast.Name(id="np" | "numpy"))):
                if attr[0].islower() and attr != "default_rng":
                    yield node.lineno, f"numpy.random.{attr}"
            case ast.Attribute(attr="time", value=ast.Call(func=ast.Attribute(attr="get_running_loop"))):
                yield node.lineno, "get_running_loop.time"
            case ast.Attribute(attr=attr, value=ast.Name(id=name) | ast.Attribute(attr=name)):
                if f"{name}.{attr}" in _CALLS and node not in yielding:
                    yield node.lineno, f"{name}.{attr}"


def _yields(node: ast.AST) -> bool:
    """`asyncio.sleep(0)`: it does not wait, it lets others go first."""
    match node:
        case ast.Call(func=ast.Attribute(attr="sleep"), args=[ast.Constant(value=0)]):
            return True
    return False


def test_nothing_else_reads_the_time_sleeps_or_draws_without_a_seed() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, what in found(path.read_text(encoding="utf-8"))
        if what not in ALLOWED.get(str(path.relative_to(ROOT)), set())
    ]
    assert wrong == [], "take a harvest.systems.timing.Clock, and draw from topics.identity.generator"


def test_every_permitted_exception_is_used() -> None:
    for name, allowed in ALLOWED.items():
        assert {what for _, what in found((ROOT / name).read_text(encoding="utf-8"))} == allowed, name


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import time", "time"),
        ("from time import monotonic", "time"),
        ("import random", "random"),
        ("from random import choice", "random"),
        ("import asyncio\nasync def f(): await asyncio.sleep(0.1)", "asyncio.sleep"),
        ("import asyncio\nasync def f(step): await asyncio.sleep(step)", "asyncio.sleep"),
        ("import asyncio\ndef f(sleep=asyncio.sleep): ...", "asyncio.sleep"),
        ("from asyncio import sleep", "asyncio.sleep"),
        ("from datetime import datetime\ndatetime.now()", "datetime.now"),
        ("import datetime\ndatetime.datetime.now()", "datetime.now"),
        ("import asyncio\nasyncio.get_running_loop().time()", "get_running_loop.time"),
        ("async def f(page): await page.wait_for_timeout(100)", "wait_for_timeout"),
        ("import numpy\nnumpy.random.default_rng()", "default_rng()"),
        ("import numpy as np\nnp.random.uniform()", "numpy.random.uniform"),
    ],
)
def test_each_way_around_the_clock_is_found(code: str, what: str) -> None:
    assert {one for _, one in found(code)} == {what}


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\nasync def f(): await asyncio.sleep(0)",
        "import asyncio\nasync def f(): asyncio.get_running_loop().call_later(1, print)",
        "async def f(clock): await clock.sleep(1)",
        "import numpy\nnumpy.random.default_rng(7)",
        "import numpy\ndef f(rng: numpy.random.Generator): return rng.random()",
        "from simulators import random",
    ],
)
def test_code_with_a_clock_or_a_seed_is_not_reported(code: str) -> None:
    assert list(found(code)) == []


def claims(code: str) -> Iterator[int]:
    """The lines that assert how long something took; that it has not hung (`… < deadline`) is no such claim."""
    if not any(clock in code for clock in _CLOCKS):
        return  # to parse all tests takes seconds
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Assert):
            clocks = [one for one in ast.walk(node.test) if isinstance(one, ast.Attribute) and one.attr in _CLOCKS]
            if clocks and not ast.unparse(node.test).endswith((" < deadline", " < until")):
                yield node.lineno


_CLOCKS = frozenset({"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"})


def test_no_test_asserts_a_duration() -> None:
    tests = [path for path in sorted((ROOT / "tests").rglob("*.py")) if "benchmarks" not in path.parts]
    wrong = [f"{path.relative_to(ROOT)}:{line}" for path in tests for line in claims(path.read_text(encoding="utf-8"))]
    assert wrong == [], "step a clock (tests.support.stepping), count the work, or write a benchmark"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("assert time.monotonic() - start < 5", [1]),
        ("assert 1 < time.perf_counter() - start, 'late'", [1]),
        ("assert time.monotonic() < deadline, log", []),
        ("assert stepped.seconds == 5", []),
    ],
)
def test_an_assertion_of_wall_time_is_found(code: str, lines: list[int]) -> None:
    assert list(claims(code)) == lines
