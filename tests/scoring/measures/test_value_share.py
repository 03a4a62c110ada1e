"""share_of(Criterion, VALUE): the distribution of what people called the turns of a conversation."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from recordings.conversations.conversation import Conversation
from recordings.files.errors import RunError
from recordings.formats.dialeval import read_helpdesk
from recordings.formats.importers import make_topics
from recordings.judged.judgments import Judgment, Layer, Target
from scoring.library import read_term
from scoring.material import Judged
from scoring.notation import parse, parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from topics.errors import InputError
from topics.topic import TopicSet

SCHEMA = load_schema("dialeval-nuggets")
TURNS = [
    ("customer", "It is dead."),
    ("helpdesk", "Hold the button."),
    ("customer", "Which?"),
    ("helpdesk", "The red."),
]


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    file = tmp_path / "desk.json"
    turns = [{"sender": sender, "utterances": [text]} for sender, text in TURNS]
    file.write_text(json.dumps([{"id": "d1", "turns": turns}]), encoding="utf-8")
    return read_helpdesk([file]).conversations[0]


def layer(author: str, one: Conversation, *values: str | None, adjudicates: bool = False) -> Layer:
    """values: of the customer's turns, in order; "" gives none."""
    judgments = tuple(
        Judgment(Target(one.trial_id, 1, turn, "user").about(), "Customer nugget", value)
        for turn, value in enumerate(values, 1)
        if value != ""
    )
    return Layer("human", author, judgments=judgments, adjudicates=adjudicates)


def shares(one: Conversation, *layers: Layer, folding: str | None = None) -> dict[str, tuple[float, int]]:
    """Of the customer's values: the share, and n."""
    topics = make_topics([one])
    judged = Judged(SCHEMA, Judgments.from_layers(layers, SCHEMA, Precedence.from_options(None, None, folding)))
    names = parse_all("share_of(Customer_nugget)")
    table = score([one], topics, None, Settings(), np.random.default_rng(0), measures=names, only=True, judged=judged)
    rows = [row for row in table.rows if row.topic is not None and row.trial == 1]
    return {row.measure.removeprefix("share_of(Customer_nugget, ")[:-1]: (row.value, row.n) for row in rows}


def test_the_shares_are_the_mean_of_the_annotators_distributions(conversation: Conversation) -> None:
    said = [("CNUG0", "CNUG"), ("CNUG0", "CNaN"), ("CNUG0", "CNUG"), ("CNUG", "CNUG*")]
    found = shares(conversation, *(layer(f"a{i}", conversation, *one) for i, one in enumerate(said)))
    assert found == {"CNUG0": (0.375, 2), "CNUG": (0.375, 2), "CNUG*": (0.125, 2), "CNaN": (0.125, 2)}


def test_unjudged_turns_are_in_no_share_and_a_share_without_judgments_is_undefined(conversation: Conversation) -> None:
    assert shares(conversation, layer("anna", conversation, "CNUG0", ""))["CNUG0"] == (1.0, 1)
    assert shares(conversation, layer("anna", conversation, "CNUG0", "unsure"))["CNUG0"] == (1.0, 1)
    assert shares(conversation, layer("anna", conversation, "CNUG0", None))["CNUG0"] == (1.0, 1)
    value, n = shares(conversation)["CNUG0"]
    assert (math.isnan(value), n) == (True, 0)


def test_an_annotator_who_says_that_it_does_not_apply_removes_that_share_of_the_turn(
    conversation: Conversation,
) -> None:
    layers = layer("anna", conversation, "CNUG0", None), layer("ben", conversation, "CNUG0", "CNaN")
    value, n = shares(conversation, *layers)["CNUG0"]
    assert (round(value, 9), n) == (round(2 / 3, 9), 2)
    assert shares(conversation, *layers, folding="mean")["CNUG0"] == (0.5, 2)


@pytest.mark.parametrize(
    ("folding", "first"), [("distribution", 0.5), ("majority", 1.0), ("a3", 0.0), ("human:a0", 1.0)]
)
def test_votes_are_folded_by_the_chosen_rule(conversation: Conversation, folding: str, first: float) -> None:
    said = ("CNUG0", "CNUG0", "CNUG", "CNaN")
    layers = [layer(f"a{i}", conversation, value, "") for i, value in enumerate(said)]
    assert shares(conversation, *layers, folding=folding)["CNUG0"] == (first, 1)


def test_if_people_differ_an_adjudicator_decides_or_the_value_is_undefined(conversation: Conversation) -> None:
    two = [layer("anna", conversation, "CNUG0", ""), layer("ben", conversation, "CNaN", "")]
    with pytest.raises(
        RunError, match=r"d1 1:1 of the user\. For the first, human anna says CNUG0, and human ben CNaN"
    ):
        shares(conversation, *two, folding="adjudicated")
    decided = layer("zoe", conversation, "CNUG", "", adjudicates=True)
    assert shares(conversation, *two, decided, folding="adjudicated")["CNUG"] == (1.0, 1)
    assert shares(conversation, *two, decided)["CNUG"] == (0.0, 1)  # who decides between votes casts none


def test_a_value_outside_the_schema_is_refused(conversation: Conversation) -> None:
    with pytest.raises(RunError, match="the value for Customer nugget is 'HNUG'"):
        shares(conversation, layer("anna", conversation, "HNUG"))


def test_judgments_of_the_system_are_in_no_share_of_the_user(conversation: Conversation) -> None:
    wrong = Layer(
        "human", "anna", judgments=(Judgment(Target(conversation.trial_id, 1, 1).about(), "Customer nugget", "CNUG"),)
    )
    assert math.isnan(shares(conversation, wrong)["CNUG"][0])


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("share_of(Helpdesk_nugget, HNUG*)", ""),
        ("share_of(helpdesk_nugget, hnug*)", ""),
        ("share_of(Helpdesk_nugget, CNUG)", "does not have this value"),
        ("share_of(Fluency)", "no criterion called 'Fluency'"),
        ("share_of(Helpdesk_nugget, HNUG, HNaN)", "takes at most 2 arguments, not 3"),
        ("WAN(Helpdesk_nugget)", "has values, not scores"),
    ],
)
def test_the_notation_of_a_value_share(written: str, what: str) -> None:
    topics = TopicSet("none", (), {})
    if what:
        with pytest.raises(InputError, match=what):
            read_term(parse(written), Settings(), topics, SCHEMA)
    else:
        assert [one.name for one in read_term(parse(written), Settings(), topics, SCHEMA)] == [
            "share_of(Helpdesk_nugget, HNUG*)"
        ]


def test_a_criterion_with_scores_has_no_shares() -> None:
    with pytest.raises(InputError, match="must have values, but"):
        read_term(parse("share_of(Fluency)"), Settings(), TopicSet("none", (), {}), load_schema())
