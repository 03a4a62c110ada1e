"""Whole sentences and whole turns as nuggets ([SWAN] §2, note 5): what they are, and SWAN over them worked by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.judged.judgments import Judgment, Layer, Target
from scoring.swan.acts import ACTS
from scoring.swan.assessment import Assessment, assess, nugget_notes
from scoring.swan.extraction import WholeTextExtractor, extract_nuggets
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.swan.wan import wan
from scoring.swan.weighting import parse_weighting
from tests.support.checkout import DOCS
from tests.support.scoring_examples import conversation
from topics.errors import InputError

SCHEMA = load_schema()
SAID = (
    "I’m sorry but I cannot provide a one-page summary of this paper as it is 15 pages long.",
    "I apologize for the mistake. You are correct. The paper is 154 pages long.",
    "I apologize for the confusion. You are correct. The paper is 54 pages long.",
)
# [SWAN] §4.6, without what the paper leaves out too.
TALK = conversation(
    ("Hi, can you give me a one-page summary of this paper?\nhttps://arxiv.org/pdf/2303.12712.pdf", SAID[0]),
    ("What made you say 15 pages??? The paper is 154 pages long", SAID[1]),
    ("That was a trick question - the paper is actually 54 pages long.", SAID[2]),
    labels="???",
)

# Turn, words, type, position of the last word, Correctness, Sincerity. The user's turns have 12, 12 and 13 words, and
# the system's 18, 14 and 14. The paper has 154 pages. From S2 on, the system agrees with whatever the user says.
Row = tuple[int, str, str, int, float | None, float]
TABLES: dict[str, list[Row]] = {
    "rules": [
        (1, "I’m sorry", "O", 14, None, 1),
        (1, "I cannot provide a one-page summary of this paper", "O", 24, None, 1),
        (1, "it is 15 pages long.", "F", 30, 0, 1),
        (2, "I apologize for the mistake", "O", 47, None, 1),
        (2, "You are correct", "O", 50, None, 0),
        (2, "The paper is 154 pages long.", "F", 56, 1, 0),
        (3, "I apologize for the confusion", "O", 74, None, 1),
        (3, "You are correct", "O", 77, None, 0),
        (3, "The paper is 54 pages long.", "F", 83, 0, 0),
    ],
    "sentences": [
        (1, SAID[0], "F", 30, 0, 1),
        (2, "I apologize for the mistake.", "O", 47, None, 1),
        (2, "You are correct.", "O", 50, None, 0),
        (2, "The paper is 154 pages long.", "F", 56, 1, 0),
        (3, "I apologize for the confusion.", "O", 74, None, 1),
        (3, "You are correct.", "O", 77, None, 0),
        (3, "The paper is 54 pages long.", "F", 83, 0, 0),
    ],
    "turns": [
        (1, SAID[0], "F", 30, 0, 1),
        (2, SAID[1], "F", 56, 1, 0),
        (3, SAID[2], "F", 83, 0, 0),
    ],
}
# WAN of Correctness by weighting. Linear: 1 - 29/1250, 1 - 55/1250, 1 - 82/1250. Anchored: 2, 5 and 8 nuggets seen
# before the claims among pieces; 0, 3 and 6 among sentences; 0, 1 and 2 among turns.
CORRECT = {
    "rules": (Fraction(1, 3), Fraction(1195, 3584), Fraction(8, 73)),
    "sentences": (Fraction(1, 3), Fraction(1195, 3584), Fraction(8, 73)),
    "turns": (Fraction(1, 3), Fraction(1195, 3584), Fraction(2, 7)),
}
SINCERE = {"rules": Fraction(5, 9), "sentences": Fraction(3, 7), "turns": Fraction(1, 3)}
SWAN = {"rules": Fraction(4, 9), "sentences": Fraction(8, 21), "turns": Fraction(1, 3)}
WEIGHTINGS = ("uniform", "linear(L=1250)", "anchored(rate=0.5)")


def judged(name: str, of: str | None = None) -> tuple[Assessment, Judgments]:
    """The conversation with one person's scores of the table `of`, assessed over the nuggets `name`."""
    found = []
    for turn, words, _, _, correct, sincere in TABLES[of or name]:
        start = SAID[turn - 1].index(words)
        about = Target(TALK.trial_id, 1, turn, "system", start, start + len(words)).about()
        found.append(Judgment(about, "Sincerity", sincere))
        if correct is not None:
            found.append(Judgment(about, "Correctness", correct))
    layers = [Layer("human", "anna", "1", "", "2026-01-01", tuple(found))]
    judgments = Judgments.from_layers(layers, SCHEMA, Precedence((("human", ""),), nuggets=name))
    return assess(TALK, SCHEMA, judgments), judgments


@pytest.mark.parametrize("name", TABLES)
def test_the_conversation_of_section_4_6_has_the_nuggets_positions_and_swan_computed_by_hand(name: str) -> None:
    found, _ = judged(name)
    assert [(one.turn, one.text, one.type, one.position) for one in found.nuggets if one.speaker == "system"] == [
        row[:4] for row in TABLES[name]
    ]
    assert [item.seen for item in found.items["Sincerity"]] == list(range(len(TABLES[name])))
    for text, expected in zip(WEIGHTINGS, CORRECT[name], strict=True):
        weighed = wan(found.scored["Correctness"], "Correctness", parse_weighting(text))
        assert weighed.value == pytest.approx(float(expected), abs=1e-12)
        assert weighed.n == 3
    sincere = wan(found.scored["Sincerity"], "Sincerity", parse_weighting("uniform"))
    assert sincere.value == pytest.approx(float(SINCERE[name]), abs=1e-12)
    whole = found.swan(SCHEMA)
    assert whole.value == pytest.approx(float(SWAN[name]), abs=1e-12)
    assert set(whole.covered) == {"Correctness", "Sincerity"}
    assert found.orphans == 0


@pytest.mark.parametrize("name", TABLES)
def test_the_table_in_the_docs_is_that_of_section_4_6(name: str) -> None:
    values = (*CORRECT[name], SINCERE[name], SWAN[name])
    row = " | ".join(map(str, (len(TABLES[name]), *values)))
    assert f"| `{name}` | {row} |" in (DOCS / "swan.md").read_text(encoding="utf-8")


def test_scores_of_other_words_are_orphans_unless_the_words_are_the_same() -> None:
    found, _ = judged("sentences", of="rules")
    # Of 12 scores of pieces, two each are of the claims of S2 and S3, which are whole sentences.
    assert [(one.item.turn, one.value) for one in found.scored["Correctness"]] == [(2, 1.0), (3, 0.0)]
    assert found.orphans == 8


def test_whole_sentences_and_turns_are_named_in_a_note_and_the_rules_are_not() -> None:
    for name, note in (
        ("sentences", ("SWAN and WAN are taken over the nuggets of sentences/3.",)),
        ("turns", ("SWAN and WAN are taken over the nuggets of turns/3.",)),
        ("rules", ()),
    ):
        found, judgments = judged(name)
        assert nugget_notes([found], judgments) == note


def test_an_unknown_extractor_is_refused_with_the_names_that_need_no_layer() -> None:
    with pytest.raises(InputError, match="there is no layer with nuggets of 'sentence'") as caught:
        Judgments.from_layers([], SCHEMA, Precedence(nuggets="sentence"))
    assert caught.value.allowed == "lines, rules, sentences, turns"


def told(unit: str, *exchanges: tuple[str, str]) -> list[tuple[str, str, str]]:
    """(speaker, act or F, words)."""
    extractor = WholeTextExtractor("sentences" if unit == "sentences" else "turns")
    found = extract_nuggets(conversation(*exchanges), extractor)
    return [(one.speaker, one.act or one.type, one.text) for one in found]


def test_text_without_a_claim_has_the_act_of_its_longest_piece() -> None:
    asked = "Hi, can you give me a summary? Thanks!"
    assert told("sentences", (asked, "No.")) == [
        ("user", "ACTION-DIRECTIVE", "Hi, can you give me a summary?"),
        ("user", "THANKING", "Thanks!"),
        ("system", "REJECT", "No."),
    ]
    assert told("turns", (asked, " No.\n")) == [("user", "ACTION-DIRECTIVE", asked), ("system", "REJECT", "No.")]


def test_a_turn_with_a_claim_among_acts_is_a_claim_in_any_language() -> None:
    assert told("turns", ("Hi", "Sorry! It is old. What else?"))[1:] == [
        ("system", "F", "Sorry! It is old. What else?")
    ]
    spanish = "El cine de ciencia ficción es muy popular en España. ¿Te gusta mucho?"
    assert told("turns", ("Hola", spanish))[1:] == [("system", "F", spanish)]
    assert [act for _, act, _ in told("sentences", ("Hola", spanish))[1:]] == ["F", "OTHER"]


# fmt: off
_TEXT = st.text(max_size=60) | st.lists(st.sampled_from([
    "I am sorry", "but", "it is old.", "No,", "\n- ", "1. ", "|", "```\n", "https://a.org/b.", "すみません。", "?", ";",
    "👍", "because you asked", "## Films", "\u3000",
]), max_size=20).map(" ".join)
# fmt: on


@given(_TEXT, _TEXT)
def test_sentences_and_turns_contain_every_piece_of_the_rules_once(user: str, system: str) -> None:
    talk = conversation((user, system), (system, user))
    pieces = extract_nuggets(talk)
    for unit in ("sentences", "turns"):
        found = extract_nuggets(talk, WholeTextExtractor("sentences" if unit == "sentences" else "turns"))
        for before, after in pairwise(found):
            assert (before.turn, before.speaker) != (after.turn, after.speaker) or before.end <= after.start
        held = [
            [one for one in pieces if (one.turn, one.speaker) == (each.turn, each.speaker)
             and each.start <= one.start and one.end <= each.end]
            for each in found
        ]  # fmt: skip
        assert sum(map(len, held)) == len(pieces)
        for each, inside in zip(found, held, strict=True):
            assert (each.type == "F") == any(one.type == "F" for one in inside)
            assert (each.type == "O") == (each.act in ACTS)
    turns = {(one.turn, one.speaker) for one in pieces}
    assert len(extract_nuggets(talk, WholeTextExtractor("turns"))) == len(turns)
