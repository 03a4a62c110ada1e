"""Interfaces that others wrote take seconds to start: each is started once, for all tests that may share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from tests.support.interfaces import BackEnd, Interface, back_end_server, interface_to

SharedInterface = Callable[[str], Interface]


@pytest.fixture(scope="session")
def shared_back_end() -> Iterator[BackEnd]:
    """The scenario server. Others have talked to it before: what a test asks of it begins where the test does."""
    with back_end_server() as back_end:
        yield back_end


@pytest.fixture(scope="session")
def shared_interface(shared_back_end: BackEnd) -> Iterator[SharedInterface]:
    """The interface of a name, in front of the shared back end; started when it is first asked for."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(interface_to(name, shared_back_end)))
