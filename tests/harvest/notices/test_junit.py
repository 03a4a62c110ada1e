"""JUnit XML: valid, read back by a reader nobody here wrote, red where the exit code is."""

from __future__ import annotations

import io
from typing import Any

import junitparser
import pytest
import xmlschema

from harvest.notices.bulletin import Bulletin, Notice
from harvest.notices.junit import junit
from tests.support.bulletins import CHANGED, DOWN, HOSTILE_BULLETIN, SAME, SHOWN, UNSURE, bulletin
from tests.support.checkout import DATA

SCHEMA = xmlschema.XMLSchema(DATA / "junit.xsd")


def read_back(found: Bulletin) -> junitparser.JUnitXml:
    text = junit(found)
    SCHEMA.validate(io.BytesIO(text))
    return junitparser.JUnitXml.fromstring(text)


def values_of(part: junitparser.TestSuite | junitparser.TestCase) -> dict[str, str]:
    typed: Any = part
    return {one.name: one.value for one in typed.child(junitparser.Properties)}


def test_each_system_is_a_suite_and_each_deciding_figure_a_case() -> None:
    (suite,) = read_back(bulletin(CHANGED, SAME, UNSURE, SHOWN, code=1, verdict="changed"))
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == ("mine", 3, 1, 0, 1)
    assert values_of(suite) == {
        "run": "runs/weekly/1",
        "verdict": "changed",
        "exit_code": "1",
    }
    changed, same, unsure = suite
    assert (changed.name, changed.classname) == ("ave%useful", "weekly.mine")
    assert [type(one) for one in changed.result] == [junitparser.Failure]
    assert changed.result[0].message == CHANGED.sentence
    assert values_of(changed) == {
        "n": "225",
        "value": "0.448",
        "baseline": "0.6",
        "difference": "-0.152",
        "difference_low": "-0.21",
        "difference_high": "-0.09",
    }
    assert same.is_passed
    assert unsure.is_skipped
    assert b"<system-out>M001: worse</system-out>" in junit(bulletin(SAME, details=("M001: worse",)))


@pytest.mark.parametrize(
    ("notice", "code", "red"),
    [(CHANGED, 1, 1), (DOWN, 3, 1), (SAME, 0, 0), (UNSURE, 0, 0)],
    ids=lambda one: str(one)[:20],
)
def test_the_report_fails_exactly_if_the_exit_code_does(notice: Notice, code: int, red: int) -> None:
    found = read_back(bulletin(notice, code=code))
    assert found.failures + found.errors == red
    assert bool(red) == bool(code)


def test_no_system_text_breaks_the_file() -> None:
    found = read_back(HOSTILE_BULLETIN)
    assert found.failures == len(HOSTILE_BULLETIN.accounts)
    text = junit(HOSTILE_BULLETIN)
    assert len(text) < 100_000, "the largest of them are cut"
    assert "␀␁␂" in text.decode()
    assert "<U+FFFE><U+FFFF><U+D800>".replace("<", "&lt;").replace(">", "&gt;") in text.decode()
    assert "\u202e" not in text.decode()
