"""Judgments in layers: which one counts, that none is lost, and SWAN of conversations and systems from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.files.errors import RunError
from recordings.judged.judgments import Judgment, Layer, Target, keep_layer, read_layers, write_layer
from scoring.swan.assessment import assess, system_swan
from scoring.swan.item import Source
from scoring.swan.judged import NUGGET, Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema, load_schema
from scoring.swan.unsettled import refuse_unsettled
from tests.support.scoring_examples import conversation
from topics.errors import InputError

SCHEMA = load_schema()
TALK = conversation(("a", "It is old. It is red."), ("b", "It is new."), system="S", topic="T")
FIRST, SECOND = (Target(TALK.trial_id, 1, 1, "system", *span) for span in ((0, 10), (11, 21)))
TURN = Target(TALK.trial_id, 1, 1)


def layer(
    value: object, *, kind: str = "human", author: str = "anna", at: str = "2026-01-01", target: Target = FIRST,
    criterion: str = "Correctness",
) -> Layer:  # fmt: skip
    return Layer(kind, author, "1", "", at, (Judgment(target.about(), criterion, value),))


def told(
    layers: Sequence[Layer], precedence: str = "human,rule", criterion: str = "Correctness"
) -> list[tuple[float, str, bool]]:
    judgments = Judgments.from_layers(layers, SCHEMA, Precedence.parse(precedence))
    found = assess(TALK, SCHEMA, judgments)
    return [(one.value, str(one.by), one.disputed) for one in found.scored[criterion]]


def test_a_target_is_read_back_from_its_judgment() -> None:
    for target in (FIRST, TURN, Target("t", 2, 3, "user", 0, 4)):
        assert Target.from_judgment(Judgment(target.about(), "c", 1)) == target
    assert Target.from_judgment(Judgment({"topic": "T", "entity": "e"}, "gold", {})) is None
    assert "speaker" not in FIRST.about()


ADJUDICATED = Precedence(folding="adjudicated")


@pytest.mark.parametrize("folding", ["distribution", "mean", "majority"])
def test_two_people_who_differ_give_the_same_score_in_whatever_order_they_were_imported(folding: str) -> None:
    for dates in (("2026-01-01", "2026-02-01"), ("2026-02-01", "2026-01-01")):
        anna, ben = layer(0.0, author="anna", at=dates[0]), layer(1.0, author="ben", at=dates[1])
        for layers in ([anna, ben], [ben, anna]):
            judgments = Judgments.from_layers(layers, SCHEMA, Precedence(folding=folding))
            found = assess(TALK, SCHEMA, judgments)
            (scored,) = found.scored["Correctness"]
            assert (scored.value, scored.share, scored.disputed) == (0.5, 1.0, True)
            assert [(str(by), value) for by, value in scored.votes] == [("human anna 1", 0.0), ("human ben 1", 1.0)]
            assert not found.unsettled
            refuse_unsettled([found], judgments, SCHEMA, ["Correctness"])


def test_if_only_an_adjudicator_may_decide_two_people_who_differ_settle_nothing() -> None:
    """Neither is before the other, so a score by that criterion is refused, and says how to settle it."""
    for dates in (("2026-01-01", "2026-02-01"), ("2026-02-01", "2026-01-01")):
        anna, ben = layer(0.0, author="anna", at=dates[0]), layer(1.0, author="ben", at=dates[1])
        for layers in ([anna, ben], [ben, anna]):
            judgments = Judgments.from_layers(layers, SCHEMA, ADJUDICATED)
            found = assess(TALK, SCHEMA, judgments)
            assert {name: len(opinions) for name, opinions in found.unsettled.items()} == {"Correctness": 1}
            with pytest.raises(RunError) as caught:
                refuse_unsettled([found], judgments, SCHEMA, ["Correctness"])
            assert caught.value.what.startswith(
                "human:anna and human:ben judged one and the same thing differently (Correctness 1)"
            )
            assert "human anna 1 says 0, and human ben 1 1" in caught.value.what
            assert f"nobody adjudicated: {TALK.key.system} {TALK.key.topic} {TALK.key.trial}:1, characters" in (
                caught.value.what
            )
            assert caught.value.advice is not None
            assert "--judges human:anna,human,rule" in caught.value.advice
            with pytest.raises(RunError):
                refuse_unsettled([found], judgments, SCHEMA, ["Modesty"])  # its rule reads Correctness
            refuse_unsettled([found], judgments, SCHEMA, ["Fluency"])
    alfred = layer(0.0, author="alfred", at="2026-01-01")
    judgments = Judgments.from_layers([alfred, anna, ben], SCHEMA, ADJUDICATED)
    with pytest.raises(RunError) as caught:
        refuse_unsettled([assess(TALK, SCHEMA, judgments)], judgments, SCHEMA, ["Correctness"])
    assert "human alfred 1 says 0, and human ben 1 1" in caught.value.what, "two who differ are told, not two who agree"
    cara = replace(layer(0.75, author="cara", at="2026-01-15"), adjudicates=True)
    for layers in map(list, permutations([anna, ben, cara])):
        found = assess(TALK, SCHEMA, Judgments.from_layers(layers, SCHEMA, ADJUDICATED))
        assert [(one.value, str(one.by), one.voters) for one in found.scored["Correctness"]] == [
            (0.75, "human cara 1", (Source("human", "cara", "1"),))
        ]
        assert not found.unsettled
        (scored,) = assess(TALK, SCHEMA, Judgments.from_layers(layers, SCHEMA)).scored["Correctness"]
        assert scored.value == 0.5, "who saw the votes has none"


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        (SCHEMA, "--criterion Correctness"),
        (load_schema("useful"), "--schema useful --criterion Useful"),
        (replace(load_schema("useful"), name="mine"), "--schema FILE --criterion Useful"),
        (replace(load_schema("useful"), about="changed"), "--schema FILE --criterion Useful"),
    ],
)
def test_a_refusal_has_the_whole_command_that_lets_somebody_decide(
    schema: Schema, options: str, tmp_path: Path
) -> None:
    criterion = options.split()[-1]
    target = FIRST if criterion == "Correctness" else TURN
    (tmp_path / "run 1").mkdir()
    for author, value in (("anna", 0.0), ("ben", 1.0)):
        write_layer(tmp_path / "run 1", layer(value, author=author, target=target, criterion=criterion))
    judgments = Judgments.from_layers(read_layers(tmp_path / "run 1"), schema, ADJUDICATED)
    with pytest.raises(RunError) as caught:
        refuse_unsettled([assess(TALK, schema, judgments)], judgments, schema, [criterion])
    command = f"harvest judge page '{tmp_path}/run 1' {options} --adjudicate --author NAME"
    assert command in (caught.value.advice or "")


def test_does_not_apply_is_a_different_judgment_from_a_score() -> None:
    layers = [layer(None), layer(1.0, author="ben")]
    assert set(assess(TALK, SCHEMA, Judgments.from_layers(layers, SCHEMA, ADJUDICATED)).unsettled) == {"Correctness"}
    found = assess(TALK, SCHEMA, Judgments.from_layers(layers, SCHEMA))
    assert [(one.value, one.share) for one in found.scored["Correctness"]] == [(1.0, 0.5)]


def test_two_layers_that_agree_are_not_a_dispute_and_settle_it() -> None:
    for dates in (("2026-01-01", "2026-02-01"), ("2026-02-01", "2026-01-01")):
        layers = [layer(1.0, at=dates[0]), layer(1.0, author="ben", at=dates[1])]
        assert told(layers) == [(1.0, "human anna 1", False)]
        assert not assess(TALK, SCHEMA, Judgments.from_layers(layers, SCHEMA)).unsettled


def test_a_revised_judgment_is_not_a_dispute() -> None:
    first, revised = layer(0.0), layer(1.0, at="2026-03-01")
    assert told([first, revised]) == told([revised, first]) == [(1.0, "human anna 1", False)]
    ben = layer(1.0, author="ben", at="2026-02-01")
    assert told([first, ben]) == [(0.5, "human anna 1", True)]
    assert told([first, ben, revised]) == [(1.0, "human anna 1", False)]


def test_nuggets_of_two_people_in_one_conversation_are_refused_until_one_is_named() -> None:
    def marks(author: str, at: str) -> Layer:
        nugget = Judgment(FIRST.about(), NUGGET, {"type": "F"})
        return Layer("human", author, "1", "", at, (nugget,))

    for dates in (("2026-01-01", "2026-02-01"), ("2026-02-01", "2026-01-01")):
        layers = [marks("anna", dates[0]), marks("ben", dates[1])]
        judgments = Judgments.from_layers(layers, SCHEMA)
        with pytest.raises(InputError, match="anna and ben extracted nuggets of the same conversation"):
            refuse_unsettled([assess(TALK, SCHEMA, judgments)], judgments, SCHEMA, ["Correctness"])
        for precedence in (Precedence(nuggets="ben"), Precedence.parse("human:ben,human,rule")):
            chosen = Judgments.from_layers(layers, SCHEMA, precedence)
            refuse_unsettled([assess(TALK, SCHEMA, chosen)], chosen, SCHEMA, ["Correctness"])


def test_judgments_of_sets_that_differ_are_folded_or_refused_too() -> None:
    name = next(one.name for one in SCHEMA if one.level == "set")
    layers = [
        Layer("human", author, judgments=(Judgment({"system": "S", "topic": "T"}, name, value),))
        for author, value in (("anna", 0.0), ("ben", 1.0))
    ]
    judgments = Judgments.from_layers(layers, SCHEMA, ADJUDICATED)
    with pytest.raises(RunError, match="human:anna and human:ben"):
        refuse_unsettled([assess(TALK, SCHEMA, judgments)], judgments, SCHEMA, [name])
    folded = Judgments.from_layers(layers, SCHEMA)
    assert system_swan("S", [assess(TALK, SCHEMA, folded)], SCHEMA, folded).pooled.wans[name].value == 0.5


def test_an_author_can_be_put_first() -> None:
    layers = [layer(0.0), layer(1.0, author="ben", at="2026-02-01")]
    assert told(layers, "human:anna,human") == [(0.0, "human anna 1", True)]
    assert told(layers, "human:anna") == [(0.0, "human anna 1", False)]


def test_a_model_is_used_only_if_it_is_named_and_its_scores_name_it() -> None:
    layers = [layer(0.25, kind="model", author="judge-x", at="2026-03-01")]
    assert told(layers) == []
    assert told(layers, "human,rule,model") == [(0.25, "model judge-x 1", False)]
    assert told([*layers, layer(1.0)], "human,model") == [(1.0, "human anna 1", True)]


def test_a_stored_score_of_a_person_precedes_a_rule_unless_the_precedence_says_otherwise() -> None:
    layers = [layer(0.5, target=TURN, criterion="Conciseness")]
    rule = (1.0, "rule brevity(words=250) 2", False)
    assert told(layers, criterion="Conciseness") == [(0.5, "human anna 1", True), rule]
    assert told(layers, "rule,human", "Conciseness") == [(1.0, "rule brevity(words=250) 2", True), rule]
    assert told(layers, "human", "Conciseness") == [(0.5, "human anna 1", False)]


def test_a_judgment_that_a_criterion_does_not_apply_removes_its_item() -> None:
    found = assess(TALK, SCHEMA, Judgments.from_layers([layer(None), layer(1.0, target=SECOND)], SCHEMA))
    assert [one.value for one in found.scored["Correctness"]] == [1.0]
    wan = found.wans(SCHEMA)["Correctness"]
    assert (wan.n, wan.items, wan.value) == (1, 2, 1.0)


def test_a_rule_that_the_schema_does_not_name_is_left_out_and_counted() -> None:
    other = layer(0.0, kind="rule", author="brevity(words=3)", target=TURN, criterion="Conciseness")
    assert Judgments.from_layers([other], SCHEMA).refused == 1
    assert told([other], criterion="Conciseness")[0][:2] == (1.0, "rule brevity(words=250) 2")


def test_modesty_is_scored_by_rule_once_correctness_was_scored() -> None:
    assert told([], criterion="Modesty") == []
    assert told([layer(0.0)], criterion="Modesty") == [(0.0, "rule hedging(hedged=0.5) 2", False)]


def test_unscored_criteria_are_undefined_with_n_0_and_swan_names_them() -> None:
    found = assess(TALK, SCHEMA).swan(SCHEMA)
    assert math.isnan(found.wans["Harmlessness"].value)
    assert (found.wans["Harmlessness"].n, found.wans["Harmlessness"].items) == (0, 3)
    assert found.covered == ("Sufficiency", "Conciseness")
    assert "Harmlessness" in found.undefined


def test_a_judgment_of_a_span_that_is_not_a_nugget_is_counted_and_in_no_score() -> None:
    stray = layer(0.0, target=Target(TALK.trial_id, 1, 1, "system", 3, 5))
    found = assess(TALK, SCHEMA, Judgments.from_layers([stray], SCHEMA))
    assert (found.orphans, found.scored["Correctness"]) == (1, ())


@pytest.mark.parametrize("value", [1.5, -0.1, True, "good", [1]])
def test_an_invalid_score_is_refused_with_file_and_line(tmp_path: Path, value: object) -> None:
    path = write_layer(tmp_path, layer(value))
    with pytest.raises(RunError) as raised:
        Judgments.from_layers(read_layers(tmp_path), SCHEMA)
    assert str(raised.value).startswith(f"{path}:2: the score for Correctness")


def test_the_nuggets_of_a_layer_are_used_and_must_be_in_the_text(tmp_path: Path) -> None:
    target = Target(TALK.trial_id, 1, 2, "system", 0, 10)
    good = Layer(
        "rule", "other", "9", "", "2026", (Judgment(target.about(), NUGGET, {"type": "F", "text": "It is new."}),)
    )
    found = assess(TALK, SCHEMA, Judgments.from_layers([good], SCHEMA))
    assert [(one.text, one.position, one.version) for one in found.nuggets] == [("It is new.", 11, "other/9")]
    bad = Layer(
        "rule", "other", "9", "", "2027", (Judgment(target.about(), NUGGET, {"type": "F", "text": "It is old."}),)
    )
    path = write_layer(tmp_path, bad)
    with pytest.raises(RunError) as raised:
        assess(TALK, SCHEMA, Judgments.from_layers(read_layers(tmp_path), SCHEMA))
    assert str(raised.value).startswith(f"{path}:2: ")


def test_layers_never_overwrite_one_another_and_equal_ones_are_kept_once(tmp_path: Path) -> None:
    assert keep_layer(tmp_path, layer(1.0))
    assert keep_layer(tmp_path, layer(1.0, at="2026-05-05")) is None
    assert keep_layer(tmp_path, layer(0.0, at="2026-06-06"))
    assert keep_layer(tmp_path, Layer("human", "nobody")) is None
    assert [one.judgments[0].value for one in read_layers(tmp_path)] == [1.0, 0.0]


@pytest.mark.parametrize("text", ["", "humans", "human,,rule", "human,human"])
def test_a_nonsensical_precedence_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Precedence.parse(text)


def test_a_precedence_is_read_back_from_its_text() -> None:
    assert str(Precedence.parse("human:anna, human,model")) == "human:anna,human,model"


_LAYERS = st.lists(
    st.builds(
        layer,
        st.sampled_from([0.0, 0.5, 1.0, None]),
        kind=st.sampled_from(["human", "model"]),
        author=st.sampled_from(["anna", "ben"]),
        at=st.sampled_from(["2026-01-01", "2026-01-02"]),
        target=st.sampled_from([FIRST, SECOND]),
    ),
    max_size=4,
    unique_by=lambda one: (one.kind, one.author, one.made_at),
)


@given(_LAYERS)
def test_the_order_in_which_layers_are_read_changes_nothing(layers: list[Layer]) -> None:
    results = {
        str(Judgments.from_layers(order, SCHEMA, Precedence.parse("human,model"))) for order in permutations(layers)
    }
    assert len(results) == 1


def test_swan_of_a_system_has_both_readings_and_the_criteria_of_sets() -> None:
    other = conversation(("a", "It is old."), system="S", topic="T", trial=2)
    about = Judgment({"system": "S", "topic": "T"}, "Adaptability", 0.5)
    scores = [
        Judgment(FIRST.about(), "Correctness", 1.0),
        Judgment(SECOND.about(), "Correctness", 1.0),
        Judgment(Target(TALK.trial_id, 1, 2, "system", 0, 10).about(), "Correctness", 1.0),
        Judgment(Target(other.trial_id, 1, 1, "system", 0, 10).about(), "Correctness", 0.0),
        about,
    ]
    judgments = Judgments.from_layers([Layer("human", "anna", judgments=tuple(scores))], SCHEMA)
    found = system_swan("S", [assess(one, SCHEMA, judgments) for one in (TALK, other)], SCHEMA, judgments)
    assert found.pooled.wans["Correctness"].value == 0.75  # Eq. 2 as printed: the long conversation weighs more
    assert (found.wans["Correctness"].value, found.wans["Correctness"].n) == (0.5, 2)
    assert (found.pooled.wans["Adaptability"].value, found.pooled.wans["Adaptability"].n) == (0.5, 1)
    assert "Adaptability" in found.pooled.covered
    assert found.sessions.n == 2


def test_a_system_without_conversations_is_undefined() -> None:
    found = system_swan("S", [], SCHEMA)
    assert math.isnan(found.pooled.value)
    assert found.sessions.n == 0
    with pytest.raises(ValueError, match="conversations must be with R, but some are with S"):
        system_swan("R", [assess(TALK, SCHEMA)], SCHEMA)


def test_the_scorers_of_a_criterion_are_reported() -> None:
    sources = assess(TALK, SCHEMA, Judgments.from_layers([layer(1.0)], SCHEMA)).sources
    assert sources["Correctness"] == (Source("human", "anna", "1"),)
    assert sources["Fluency"] == ()
