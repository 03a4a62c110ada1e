"""The page about faults: every row is held by a test, and every fault that the tests know has its row.

Run as a program, it writes the rows anew from what the tests see: `python -m tests.docs.test_faults`.
"""

from __future__ import annotations

import os
import re
import sys

import pytest

from tests.servers.faulty_chat import FAULTS
from tests.support.checkout import TESTS
from tests.support.fault_page import PAGE, emptied, rows

HOLDING = sorted(
    file for file in TESTS.rglob("test_*.py") if re.search(r"fault_page import .*\bhold\b", file.read_text("utf-8"))
)


def test_every_row_names_the_test_for_it() -> None:
    sources = "\n".join(file.read_text(encoding="utf-8") for file in HOLDING)
    held = set(re.findall(r"^(?:async )?def (test_\w+)", sources, re.MULTILINE))
    named = {test.strip("`").partition("[")[0] for test in rows()}
    assert named
    assert named <= held


def test_every_fault_of_the_server_has_its_row() -> None:
    named = {match[1] for test in rows() if (match := re.search(r"\[(.+)\]", test))}
    assert FAULTS.keys() - {"good"} <= named


def test_every_row_says_what_a_person_sees() -> None:
    for row in rows().values():
        assert all((row.fault, row.recorded, row.again, row.seen)), row


if __name__ == "__main__":
    PAGE.write_text(emptied(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    os.environ["HARVEST_RENEW"] = "1"
    sys.exit(pytest.main(["-q", *map(str, HOLDING)]))
