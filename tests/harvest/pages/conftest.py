"""Interfaces that others wrote take seconds to start: each is started once, for all tests that may share it, and ended
after the last of them, because some take a tenth of a processor for doing nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.conftest import SHARING
from tests.support.interfaces import BackEnd, Interface, back_end_server, interface_to

SharedInterface = Callable[[str], Interface]


@pytest.fixture(scope="session")
def shared_back_end() -> Iterator[BackEnd]:
    """The scenario server. Others have talked to it before: what a test asks of it begins where the test does."""
    with back_end_server() as back_end:
        yield back_end


_STARTED: dict[str, Interface] = {}
_RUNNING = ExitStack()
"""The shared interfaces of this process."""


@pytest.fixture(scope="session")
def shared_interface(shared_back_end: BackEnd) -> Iterator[SharedInterface]:
    """The interface of a name, in front of the shared back end; started when it is first asked for."""

    def started(name: str) -> Interface:
        if name not in _STARTED:
            _STARTED[name] = _RUNNING.enter_context(interface_to(name, shared_back_end))
        return _STARTED[name]

    yield started
    _end()


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Where processes share out the tests, those that share interfaces follow each other in one."""
    if nextitem is not None:
        file = nextitem.path.relative_to(nextitem.config.rootpath).as_posix()
        if file not in SHARING["shared_interface"]:
            _end()


def _end() -> None:
    _RUNNING.close()
    _STARTED.clear()
