"""docs/criteria.md: its tables are what the rules declare and what they say of the cases.

Run as a program, it writes them anew: `python -m tests.docs.test_criteria`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest

from scoring.swan.rules.registry import RULES, parse_rule
from tests.support.checkout import DOCS
from tests.support.criteria_cases import CRITERIA, PARTS, TRUTHS, Tally, cases, judged, schema, tally

PAGE = DOCS / "criteria.md"
PART = {"tuned": "tuned", "held_out": "held out"}


def rules() -> Iterator[str]:
    yield "| criterion | rule | what it cannot see | no score where |"
    yield "|---|---|---|---|"
    of = {str(rule): one.name for one in schema() for rule in (*one.rules, *one.set_rules)}
    for rule in map(parse_rule, RULES):
        yield f"| {of.get(str(rule), '–')} | `{rule}` | {rule.limits} | {rule.silence} |"


def share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}".lstrip("0") if value < 1 else "1.00"


def figures() -> Iterator[str]:
    yield "| criterion | cases | number | bad | flagged | precision | recall | right |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in CRITERIA:
        for part in PARTS:
            one: Tally = tally(name, part)
            yield (
                f"| {cases(name)[0].criterion} | {PART[part]} | {len(one.found)} | {one.bad} | {one.hits + one.false} "
                f"| {share(one.precision)} | {share(one.recall)} | {one.right} |"
            )


def wrong() -> Iterator[str]:
    yield "| criterion | cases | it is | found | user / system | trap |"
    yield "|---|---|---|---|---|---|"
    for name in CRITERIA:
        for one in judged(name):
            if not one.right:
                case = one.case
                yield (
                    f"| {case.criterion} | {PART[case.part]} | {case.truth} | {one.verdict} | {case.shown} "
                    f"| {case.trap} |"
                )


BLOCKS = {"rules": rules, "figures": figures, "wrong": wrong}


def renewed(page: str) -> str:
    for name, lines in BLOCKS.items():
        block = f"<!-- {name} -->\n" + "".join(f"{line}\n" for line in lines()) + f"<!-- end of {name} -->"
        old = re.search(rf"<!-- {name} -->.*?<!-- end of {name} -->", page, re.DOTALL)
        assert old is not None, name
        page = page.replace(old[0], block)
    return page


def test_the_tables_are_what_the_rules_declare_and_decide_in_the_cases() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "renew them with: python -m tests.docs.test_criteria"


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_has_forty_cases_with_a_third_held_out_and_each_is_written_once(name: str) -> None:
    found = cases(name)
    assert len(found) >= 40
    assert 3 * sum(one.part == "held_out" for one in found) >= len(found)
    assert {one.truth for one in found} <= set(TRUTHS)
    assert len({(one.talk, one.at, str(one.more)) for one in found}) == len(found)
    assert all(one.at in one.talk[-1] for one in found if one.at)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
