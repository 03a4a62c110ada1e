"""A system may answer with megabytes: every rule's time grows with the length, not with its square.

Times are compared with each other, never with a clock's figure: five times the text may take at most 5 × 4 times as
long, where a quadratic rule would take 25 times and one that backtracks would not come back.
"""

from __future__ import annotations

import gc
import time

import pytest

from protocols.answer import Answer, Exchange
from protocols.rules.clarifying_question import ClarifyingQuestion
from protocols.rules.contains import Contains
from protocols.rules.echo import Echo
from protocols.rules.empty import Empty
from protocols.rules.error_page import ErrorPage
from protocols.rules.format import Format, Urls
from protocols.rules.label_was import LabelWas
from protocols.rules.offer import Offer
from protocols.rules.refusal import Refusal
from protocols.rules.repetition import Repetition
from protocols.rules.rule import Rule, Sight
from protocols.rules.words import Words
from topics.kinds import KINDS
from topics.topic import Topic, TopicType

MOVIES = Topic("M002", TopicType("movie", "movie title, iMDB URL", KINDS["imdb-title"]), "Please list up movies.")
RULES: dict[str, Rule] = {
    "clarifying_question": ClarifyingQuestion(),
    "contains": Contains(phrases=("a b", "no results found", "(((")),
    "contains-pattern": Contains(pattern="a{0,90}b"),
    "echo": Echo(),
    "empty": Empty(),
    "error_page": ErrorPage(),
    "format": Format(at_least=10_000),
    "label_was": LabelWas(label="o"),
    "offer": Offer(),
    "refusal": Refusal(),
    "repetition": Repetition(),
    "urls": Urls(at_least=10_000),
    "words": Words(at_most=3),
}
TEXTS = {
    "spaces": " ",
    "one letter": "a",
    "zero width": "\u200b",
    "words": "a  b? ",
    "brackets": "[](",
    "braces": '{"a":',
    "lines": "- \n",
    "digits": "12) ",
    "apologies": "I'm sorry, but I am and so I ",
    "accents": "a\u0301\u0327",
    "urls": "https://www.imdb.com/title/tt0390384/ ",
    "one line of URLs": "x,https://www.imdb.com/title/tt0390384/,",
    "markup": "<html><title>",
    "japanese": "申し訳",
}


def seconds(rule: Rule, text: str, times: int = 3, enough: float = 0.0) -> float:
    """The smallest of some CPU times: what else the machine does takes none of it, nor does the garbage of others.
    enough: no more are taken once one is as small."""
    sight = Sight(MOVIES, (Exchange("…", Answer(text)), Exchange("…", Answer(text + "."))), ("x",))
    taken = []
    gc.disable()  # a collection takes longer the more a process holds, and the tests before it left much
    try:
        for _ in range(times):
            start = time.process_time()
            rule.judge(sight)
            taken.append(time.process_time() - start)
            if taken[-1] <= enough:
                break
    finally:
        gc.enable()
    return min(taken)


@pytest.mark.parametrize("kind", TEXTS)
def test_the_time_of_every_rule_grows_with_the_text_and_not_faster(kind: str) -> None:
    piece = TEXTS[kind]
    short = piece * (20_000 // len(piece))
    long = piece * (100_000 // len(piece))
    for name, rule in RULES.items():
        # What is added is the grain of the clock; the squares of these lengths take far longer.
        most = 20 * seconds(rule, short) + 0.02
        assert seconds(rule, long, enough=most) <= most, name


@pytest.mark.parametrize("size", [200_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_five_times_the_text_takes_every_rule_five_times_as_long_and_not_twenty_five(size: int) -> None:
    line = (
        "Primer ({}): https://www.imdb.com/title/tt{:07}/ — a film with a plot, a cast and a runtime.\n" * 2
        + "More. " * 40
    )
    text = "".join(line.format(number, number, number, number + 1) for number in range(0, 26_000, 2))
    assert len(text) > 5 * size
    for name, rule in RULES.items():
        most = 20 * seconds(rule, text[:size], 2) + 0.1
        assert seconds(rule, text[: 5 * size], 2, most) <= most, name


def test_evidence_stays_small_in_five_megabytes() -> None:
    text = "Primer (2004): https://www.imdb.com/title/tt0390384/ and more words about it.\n" * 65_000
    assert len(text) > 5_000_000
    for name, rule in RULES.items():
        verdict = rule.judge(Sight(MOVIES, (Exchange("…", Answer(text)),)))
        assert len(verdict.evidence) <= 120, name
        assert sum(len(piece.quote) for piece in verdict.evidence) < 50_000, name


def test_urls_are_looked_for_in_the_first_million_characters_and_the_evidence_says_so() -> None:
    url = "https://www.imdb.com/title/tt0390384/"
    late = Answer("x " * 500_000 + url)
    verdict = Urls().judge(Sight(MOVIES, (Exchange("…", late),)))
    assert not verdict.holds
    assert verdict.evidence[-1].note == "0 different ones found in the first 1000000 of 1000037 characters"
    cut = Answer("x" * (1_000_000 - 33) + " " + url)  # all but the last digits stand within the bound
    assert not Urls(kind="any").judge(Sight(MOVIES, (Exchange("…", cut),))).holds
    in_time = Answer("x" * (1_000_000 - 39) + " " + url + " and more")
    assert Urls().judge(Sight(MOVIES, (Exchange("…", in_time),))).holds
