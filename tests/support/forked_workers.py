"""`pytest --forks N`: tests are collected once, and run by N processes that are forked from the one that has them.

To import all tests and what they test takes as long as a hundred of them, and every process of pytest-xdist does so
anew. What a plug-in of pytest hears of a test (a report, its begin and its end) it hears in the first process, as if
the tests ran there: reports in JUnit's format, `-x`, `--lf` and exit codes are as they are without forks.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from _pytest.runner import runtestprotocol

SHARED_FOLDER = pytest.StashKey[Path]()
"""Of a configuration: the temporary folder of the session, in which each process has one of its own."""
LOOK = 5.0
"""Seconds after which a process that says nothing is asked whether it lives: a child of its own may hold its line."""

Numbers: TypeAlias = deque[int]
"""Of tests, by their place among those of the session."""
_LINE = pytest.StashKey[Connection]()


@dataclass
class _Worker:
    """A process, its line, and the tests it was given that it has not reported; it runs the first of them."""

    process: BaseProcess
    line: Connection
    given: Numbers = field(default_factory=deque)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forks", type=int, default=0, metavar="N", help="run tests in N forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a fork: run the test, and hand its reports to the first process instead of to the plug-ins of this one."""
    line = item.config.stash.get(_LINE, None)
    if line is None:
        return None
    to_data = item.config.hook.pytest_report_to_serializable
    line.send([to_data(config=item.config, report=one) for one in runtestprotocol(item, log=False, nextitem=nextitem)])
    return True


def run_in_forks(session: pytest.Session, group_of: Callable[[pytest.Item], str]) -> bool | None:
    """Run all tests in so many forks as `--forks` says; without it, leave them to pytest.

    group_of: one process runs the tests of a group, in their order.
    """
    option = session.config.option
    if not option.forks or option.collectonly or option.usepdb or session.testsfailed:
        return None
    groups: dict[str, Numbers] = {}
    for number, item in enumerate(session.items):
        groups.setdefault(group_of(item), deque()).append(number)
    _Forks(session, deque(groups.values())).run(option.forks)
    return True


class _Forks:
    def __init__(self, session: pytest.Session, groups: deque[Numbers]) -> None:
        self._session, self._groups = session, groups
        self._workers: list[_Worker] = []
        self._names: Iterator[int] = iter(range(len(session.items) + len(groups)))
        factory = session.config._tmp_path_factory  # type: ignore[attr-defined]
        session.config.stash[SHARED_FOLDER] = factory.getbasetemp()

    def run(self, count: int) -> None:
        try:
            for _ in range(min(count, len(self._groups))):
                self._begin(deque())
            while self._workers:
                ready = wait([worker.line for worker in self._workers], LOOK)
                for worker in [one for one in self._workers if one.line in ready or not one.process.is_alive()]:
                    self._listen(worker)
                    if self._session.shouldfail:
                        raise self._session.Failed(self._session.shouldfail)
                    if self._session.shouldstop:
                        raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for worker in self._workers:
                with contextlib.suppress(OSError):
                    worker.line.send(None)
            for worker in self._workers:
                with contextlib.suppress(EOFError, OSError):
                    while True:  # a report that nobody reads would keep the process
                        worker.line.recv()
                worker.process.join()

    def _begin(self, given: Numbers) -> None:
        """Fork a process for these tests, and for those that are left."""
        line, other = multiprocessing.Pipe()
        others = [line, *(worker.line for worker in self._workers)]
        target, name = _work, f"fork-{next(self._names)}"
        process = multiprocessing.get_context("fork").Process(target=target, args=(self._session, other, others, name))
        process.start()
        other.close()
        worker = _Worker(process, line, given)
        self._workers.append(worker)
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        """Tell the process which test to run, and which comes after it: what both need is not made twice."""
        while len(worker.given) < 2 and self._groups:
            worker.given.extend(self._groups.popleft())
        with contextlib.suppress(OSError):  # where it has ended, that is seen when it is listened to
            if worker.given:
                worker.line.send((worker.given[0], worker.given[1] if len(worker.given) > 1 else None))
            else:
                worker.line.send(None)

    def _listen(self, worker: _Worker) -> None:
        try:
            said = worker.line.recv() if worker.process.is_alive() or worker.line.poll() else None
        except (EOFError, ConnectionResetError):
            said = None
        if said is not None:
            from_data = self._session.config.hook.pytest_report_from_serializable
            reports = [from_data(config=self._session.config, data=data) for data in said]
            self._report(worker.given.popleft(), reports)
            self._give(worker)
            return
        self._workers.remove(worker)
        worker.line.close()
        worker.process.join()
        if worker.given:
            number = worker.given.popleft()
            self._report(number, [self._lost(number, worker.process.exitcode)])
            if (worker.given or self._groups) and not (self._session.shouldfail or self._session.shouldstop):
                self._begin(worker.given)

    def _report(self, number: int, reports: Iterable[pytest.TestReport]) -> None:
        item = self._session.items[number]
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _lost(self, number: int, code: int | None) -> pytest.TestReport:
        item = self._session.items[number]
        words = f"The process of this test ended in it (exit code {code}; below 0: the signal)."
        return pytest.TestReport(item.nodeid, item.location, {}, "failed", words, "call")


def _work(session: pytest.Session, line: Connection, others: Iterable[Connection], name: str) -> None:
    """Run in a fork the tests that it is given, until it is given no more, or the first process has ended."""
    for other in others:
        other.close()
    config: Any = session.config
    # What pytest caught, it keeps in a file, of which the processes would have one place to write to.
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    folder = config.stash[SHARED_FOLDER] / name
    folder.mkdir()
    config._tmp_path_factory._basetemp = folder
    config.stash[_LINE] = line
    with contextlib.suppress(EOFError):
        while (given := line.recv()) is not None:
            number, following = given
            after = None if following is None else session.items[following]
            config.hook.pytest_runtest_protocol(item=session.items[number], nextitem=after)
    session._setupstate.teardown_exact(None)
