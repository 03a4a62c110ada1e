"""Nuggets: what the rules extract, and what no extractor may return."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.nuggets import find_nuggets
from scoring.settings import Settings
from scoring.swan.acts import ACTS
from scoring.swan.extraction import RULES, RuleExtractor, act_key, extract_nuggets, is_english
from scoring.swan.nugget import Candidate, place_nuggets
from scoring.words import Passage, word_count
from tests.support.checkout import DATA
from tests.support.scoring_examples import ATTRIBUTES, M002, conversation, movie, paper_b1, paper_gold

NUGGETS = DATA / "nuggets"


def passage(text: str, *, speaker: str = "system", before: int = 0, turn: int = 1) -> Passage:
    return Passage(turn, speaker, text, before, word_count(text))


def told(text: str, *, before: str = "") -> list[tuple[str, str]]:
    """(act or F, words) of a system turn."""
    earlier = [passage(before, speaker="user")] if before else []
    here = passage(text)
    found = place_nuggets(here, RuleExtractor().candidates(here, earlier), version=RULES)
    return [(one.act or one.type, one.text) for one in found]


def test_the_reply_of_swan_section_2_gives_the_three_nuggets_printed_there() -> None:
    text = "I’m sorry but I cannot provide a one-page summary of this paper as it is 15 pages long."
    assert told(text) == [
        ("APOLOGY", "I’m sorry"),
        ("REJECT", "I cannot provide a one-page summary of this paper"),
        ("F", "it is 15 pages long."),  # the paper resolves `it`; a span cannot
    ]


def test_the_conversation_of_swan_section_4_6_gives_its_claims_of_15_154_and_54_pages() -> None:
    found = told("I apologize for the mistake. You are correct. The paper is 154 pages long.")
    assert found == [
        ("APOLOGY", "I apologize for the mistake"),
        ("AGREEMENT", "You are correct"),
        ("F", "The paper is 154 pages long."),
    ]
    assert told("Hi, can you give me a one-page summary of this paper?") == [
        ("CONVENTIONAL-OPENING", "Hi"),
        ("ACTION-DIRECTIVE", "can you give me a one-page summary of this paper?"),
    ]


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Thank you very much for your help!", "THANKING"),
        ("Good morning", "CONVENTIONAL-OPENING"),
        ("Goodbye.", "CONVENTIONAL-CLOSING"),
        ("You're welcome!", "DOWNPLAYER"),
        ("What is the capital of France?", "WH-QUESTION"),
        ("Is it raining?", "YES-NO-QUESTION"),
        ("It is raining, isn't it?", "TAG-QUESTION"),
        ("It is raining?", "DECLARATIVE-YES-NO-QUESTION"),
        ("How about you?", "OPEN-QUESTION"),
        ("Would you like me to list more?", "OFFER"),
        ("Let me know if you need anything else.", "OFFER"),
        ("Tell me more about it.", "ACTION-DIRECTIVE"),
        ('Adhere to the output format I specified: "Format: movie title, iMDB URL"', "ACTION-DIRECTIVE"),
        ("As an AI language model, I cannot browse the internet.", "REJECT"),
        ("I don't know.", "HEDGE"),
        ("i dont know", "HEDGE"),
        ("Maybe.", "MAYBE"),
        ("What do you mean?", "SIGNAL-NON-UNDERSTANDING"),
        ("Okay", "ACKNOWLEDGE"),
        ("Great question!", "APPRECIATION"),
        ("# Ingredients", "OTHER"),
    ],
)
def test_an_act_is_recognised_by_its_words(text: str, act: str) -> None:
    assert [kind for kind, _ in told(text)] == [act]
    assert act in ACTS


def test_yes_and_no_are_answers_only_after_a_question() -> None:
    assert told("No.", before="Do you like it?") == [("NO-ANSWER", "No")]
    assert told("No.", before="It is red.") == [("REJECT", "No")]
    assert told("Yes.", before="Do you like it?") == [("YES-ANSWER", "Yes")]


def test_a_claim_with_a_verb_like_word_in_front_remains_a_claim() -> None:
    for text in ("Open banking is new.", "Use of force is rare.", "Watches are small.", "Interesting times began."):
        assert told(text) == [("F", text)]


def test_a_sentence_is_split_at_a_new_subject_and_not_inside_a_list_of_nouns() -> None:
    assert told("It is old, but it works, and you can buy bread and butter there.") == [
        ("F", "It is old"),
        ("F", "it works"),
        ("F", "you can buy bread and butter there."),
    ]
    assert told("If it rains, we stay at home.") == [("F", "If it rains, we stay at home.")]
    assert told("She runs as fast as she can run.") == [("F", "She runs as fast as she can run.")]


def test_text_that_is_not_english_is_one_claim_per_sentence_under_its_own_name() -> None:
    here = passage("El cine de ciencia ficción es muy popular en España. ¿Te gusta mucho?")
    found = [*RuleExtractor().candidates(here, [])]
    assert [(one.type, one.rule, one.act) for one in found] == [
        ("F", "unknown-language", ""),
        ("O", "question-mark", "OTHER"),
    ]
    assert not is_english("すみません、わかりません。")
    assert is_english("What’s another place worth visiting?")


def test_user_turns_have_nuggets_too_and_positions_count_their_words() -> None:
    found = extract_nuggets(conversation(("Is it old? Tell me.", "Yes. It is old.")))
    assert [(one.speaker, one.act or one.type, one.position) for one in found] == [
        ("user", "YES-NO-QUESTION", 3),
        ("user", "ACTION-DIRECTIVE", 5),
        ("system", "AGREEMENT", 6),  # the user's last words were no question
        ("system", "F", 9),
    ]


def test_entities_keep_the_positions_that_figure_5_prints() -> None:
    talk = paper_b1()
    entities = find_nuggets(talk, M002, paper_gold(), ATTRIBUTES, Settings())
    found = [one for one in extract_nuggets(talk, entities=entities) if one.type == "E"]
    assert [one.position for one in found] == [35, 39, 43, 46, 51, 91, 96, 99, 104, 107]
    assert all(one.text == movie(one.entity.rstrip("/")[-7:]) for one in found)


def test_the_key_of_a_turn_is_its_acts_in_order() -> None:
    assert act_key("I’m sorry but I cannot provide it as it is long. It is old.") == "APOLOGY+REJECT+F"
    assert act_key("No.", answering=True) == "NO-ANSWER"
    assert act_key("") == ""


@dataclass(frozen=True)
class Quoting:
    """An extractor that returns what it is told to."""

    found: tuple[Candidate, ...]
    version: str = "model-x/3"

    def candidates(self, passage: Passage, earlier: Sequence[Passage]) -> Iterable[Candidate]:
        return self.found if passage.speaker == "system" else ()


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        ([Candidate(0, 99, "F", "r")], "outside a text of 15 characters"),
        ([Candidate(3, 3, "F", "r")], "outside"),
        ([Candidate(0, 3, "F", "r")], "white space"),
        ([Candidate(0, 2, "F", "r", text="Is")], "said to read 'Is'"),
        ([Candidate(0, 2, "O", "r")], "dialogue act"),
        ([Candidate(0, 2, "F", "r", act="REJECT")], "dialogue act"),
        ([Candidate(0, 2, "X", "r")], "none of the types"),  # type: ignore[arg-type]
        ([Candidate(0, 2, "F", "r"), Candidate(0, 2, "O", "r", act="REJECT")], "two nuggets on one span"),
        ([Candidate(0, 2, "E", "r", entity="x")], "returned an entity"),
    ],
)
def test_the_output_of_an_extractor_is_checked(found: list[Candidate], fault: str) -> None:
    with pytest.raises(ValueError, match=fault) as raised:
        extract_nuggets(conversation(("Say it.", "It is old. Yes.")), Quoting(tuple(found)))
    assert "model-x/3" in str(raised.value)


def test_an_extractor_that_quotes_the_text_is_accepted_with_its_name() -> None:
    one = Candidate(0, 10, "F", "claims", text="It is old.")
    found = extract_nuggets(conversation(("Say it.", "It is old. Yes.")), Quoting((one,)))
    assert [(nugget.text, nugget.position, nugget.version) for nugget in found] == [("It is old.", 5, "model-x/3")]


# fmt: off
_WORDS = st.sampled_from([
    "I", "am", "sorry", "for", "but", "it", "is", "No,", "Yes.", "and", "you", "can't", "?", "what", "\n- ",
    "https://a.org/b.", "because", "the", "cat", ";", "…", "すみません。", "**bold**", "`x. y`", "\n\n", "Dr.", "1.",
    "```\n", "’s", ",", ".", "so", "it's", "- ", "\u3000", "as", "(", ")", ":)", "thanks for", "_x_",
])
# fmt: on


@given(st.lists(_WORDS, max_size=40), st.lists(_WORDS, max_size=15))
def test_nuggets_are_in_the_text_in_order_without_overlap_and_positions_never_fall(
    system: list[str], user: list[str]
) -> None:
    talk = conversation((" ".join(user), " ".join(system)), ("go on", " ".join(reversed(system))))
    found = extract_nuggets(talk)
    sides = {(turn.number, "user"): turn.said for turn in talk.turns}
    sides |= {(turn.number, "system"): turn.reply.answer.text for turn in talk.turns if turn.reply}
    assert all(sides[one.turn, one.speaker][one.start : one.end] == one.text != "" for one in found)
    for before, after in pairwise(found):
        assert (before.turn, before.speaker) != (after.turn, after.speaker) or before.end <= after.start
        assert before.position <= after.position
    assert all((one.type == "O") == (one.act in ACTS) for one in found)


@given(st.text(max_size=200))
def test_no_text_makes_the_rules_fail(text: str) -> None:
    assert extract_nuggets(conversation((text, text))) == extract_nuggets(conversation((text, text)))


@pytest.mark.parametrize("size", [20_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_hostile_texts_take_time_linear_in_their_length(size: int) -> None:
    for piece in ("because I ", "no, ", "I am ", ";", " :) ", "so "):
        begun = time.process_time()
        extract_nuggets(conversation(("ask", piece * (size // len(piece)))))
        assert time.process_time() - begun < size / 10_000


def _marked(name: str) -> tuple[int, int, int, int, int]:
    """(marked, found, same words, of those of the right type, of those with the right act) over a marked set."""
    marked = found = same = types = acts = 0
    for row in (NUGGETS / name).read_text(encoding="utf-8").splitlines():
        turn = json.loads(row)
        gold = {words.strip(" .!?,;:"): act for act, words in turn["nuggets"]}
        ours = {words.strip(" .!?,;:"): act for act, words in told(turn["text"], before=turn["before"])}
        marked, found = marked + len(turn["nuggets"]), found + len(ours)
        for words in gold.keys() & ours.keys():
            same += 1
            types += (gold[words] == "F") == (ours[words] == "F")
            acts += gold[words] == ours[words]
    return marked, found, same, types, acts


def test_on_44_held_out_turns_annotated_by_hand_56_of_78_nuggets_are_found_and_54_have_the_right_act() -> None:
    assert _marked("held_out.jsonl") == (78, 72, 56, 54, 54)


def test_on_the_turns_the_rules_were_tuned_on_88_of_100_nuggets_are_found() -> None:
    assert _marked("tuned_on.jsonl")[:3] == (100, 97, 88)  # one of those missed is a comma that is a turn


@pytest.mark.parametrize("text", [":-)", "👍", "…", "?!", "---", "1.\n2."])
def test_a_turn_without_a_word_has_no_nugget(text: str) -> None:
    assert told(text) == []


def test_a_figure_is_an_answer_but_the_number_of_an_item_is_not() -> None:
    assert told("1985", before="In which year?") == [("F", "1985")]
    assert told("12.", before="How many?") == [("F", "12.")]
    assert told("In these years:\n1. 1985\n2. 1990") == [
        ("OTHER", "In these years:"),
        ("F", "1985"),
        ("F", "1990"),
    ]


def test_a_mark_belongs_to_the_words_before_it_and_a_clause_without_a_word_is_not_a_nugget() -> None:
    assert told("The shop is open. :) 👍") == [("F", "The shop is open. :) 👍")]
    assert told("The shop is open; :) :)") == [("F", "The shop is open; :) :)")]


def test_a_number_after_an_opening_belongs_to_it_unless_the_turn_ends_there() -> None:
    assert told("Yes, 1. It is red.", before="Is there a lift?") == [("YES-ANSWER", "Yes, 1."), ("F", "It is red.")]
    assert told("Yes, 1.", before="Is there a lift?") == [("YES-ANSWER", "Yes"), ("F", "1.")]
    assert told("Yes, 12 of them. It is red.")[1:] == [("F", "12 of them."), ("F", "It is red.")]


WORDS = st.sampled_from(
    ["Menü", "karte", "It", "is", "open", "Paris", "am", "der", "Mai", "and", "we", "店", "это", "Yes,", "5", "1999"]
)
MARKS = st.sampled_from(
    [". ", ": ", "; ", "! ", " ", ", ", "\n", "\n\n", " 1. ", " 2. ", " 3) ", ": 1. ", "\n- ", " :) "]
)


@example([("Yes,", " 1. "), ("It", ". ")])  # the number is no item's, and claims nothing alone
@example([("Yes,", " 1. ")])  # nothing follows the number, so that it is no item's
@given(st.lists(st.tuples(WORDS, MARKS), min_size=1, max_size=25))
def test_every_nugget_has_a_word_and_no_word_is_lost(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + mark for word, mark in parts)
    found = [words for _, words in told(text)]
    assert all(any(map(str.isalnum, words)) for words in found)
    assert not [
        words for words in found if re.fullmatch(r"[0-9]{1,3}[.)]", words) and not text.rstrip().endswith(words)
    ]
    letters = "".join(filter(str.isalpha, text))
    kept = "".join(letter for words in found for letter in words if letter.isalpha())
    for joining in ("and", "we"):  # connecting words between two pieces belong to neither
        letters, kept = letters.replace(joining, ""), kept.replace(joining, "")
    assert kept == letters
