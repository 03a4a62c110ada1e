"""The Markov user: rows that say what they were given, tables that are recovered from what it plays."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Say
from simulators.act_table import ANY, START, STOP, ActSequence, ActTable, ProbabilityTable, fit
from simulators.conformance import assert_conforms
from simulators.markov import ILLUSTRATIVE, WORDS, Options, Row, build
from simulators.registry import build_user
from simulators.stopping.library import PatienceBudget
from simulators.user import Observation, Scenario, Streams
from tests.support.enumerable_users import ANSWERS, MOVIES, drawn_like_promised, said, walk
from topics.document import parse_document
from topics.errors import InputError

SCENARIO = Scenario(MOVIES)
USEFUL, USELESS = Observation(Answer("Primer"), "o"), Observation(Answer("bananas"), "x")

acts = st.sampled_from(["ask", "more", "insist"])
sequences = st.lists(
    st.lists(st.tuples(acts, st.sampled_from("ox-")), min_size=1, max_size=6).map(
        lambda turns: ActSequence(tuple(act for act, _ in turns), tuple(answer for _, answer in turns))
    ),
    min_size=1,
    max_size=12,
)


def test_every_node_of_the_illustrative_user_keeps_its_promises() -> None:
    seen = walk(build(Options()), SCENARIO, ANSWERS, depth=3)
    assert set(seen) == {"ask", "more", "insist", "detail", "left"}


def test_a_markov_user_keeps_the_promises_of_the_interface() -> None:
    assert_conforms(build(Options()), [SCENARIO])
    rows = (Row(after=("start",), next={"ask": 1.0}), Row(after=("ask",), next={"ask": 0.7, STOP: 0.3}))
    assert_conforms(build(Options(order=2, rows=rows, stop=PatienceBudget(turns=3))), [SCENARIO])


@given(data=sequences, order=st.sampled_from([1, 2]), weight=st.floats(0, 3), least=st.integers(1, 4))
def test_every_row_of_every_fit_is_a_distribution(
    data: list[ActSequence], order: int, weight: float, least: int
) -> None:
    for smoothing in ("witten-bell", "additive"):
        table = fit(data, order=order, smoothing=smoothing, weight=weight, least=least)
        contexts = [([], "-"), *(([act], answer) for act in table.acts for answer in "ox-?")]
        contexts += [([one, two], "o") for one in table.acts for two in table.acts]
        for after, answer in contexts:
            row = table.row(after, answer)
            assert sum(row.values()) == pytest.approx(1)
            assert all(0 <= p <= 1 for p in row.values())
            assert (STOP in row) == bool(after), "a user cannot stop before the first turn"
        assert ActTable.from_json(json.loads(json.dumps(table.as_json()))) == table


def test_witten_bell_backs_off_as_its_equation_says() -> None:
    # ask→more, more→more, more→stop after o; ask→stop after x.
    table = fit([ActSequence(("ask", "more", "more"), ("o", "o", "o")), ActSequence(("ask",), ("x",))])
    lowest = dict.fromkeys(("ask", "more", STOP), 1 / 3)
    # Anything but the opening: more 2, stop 2; n = 4, T = 2.
    anything = {act: (n + 2 * lowest[act]) / 6 for act, n in {"ask": 0, "more": 2, STOP: 2}.items()}
    # After ask, whatever the answer: more 1, stop 1; n = 2, T = 2. After ask and o: more 1; n = 1, T = 1.
    after_ask = {act: (n + 2 * anything[act]) / 4 for act, n in {"ask": 0, "more": 1, STOP: 1}.items()}
    after_ask_o = {act: (n + 1 * after_ask[act]) / 2 for act, n in {"ask": 0, "more": 1, STOP: 0}.items()}
    assert table.row(["ask"], "o") == pytest.approx(after_ask_o)
    assert table.row(["ask"], "-") == pytest.approx(after_ask), "an answer never seen leaves it to the act alone"
    assert table.row([]) == pytest.approx({"ask": 2.5 / 3, "more": 0.5 / 3})
    assert (table.count(["ask"], "o"), table.count(["ask"], "-"), table.count([])) == (1, 0, 2)


def plain_witten_bell(data: list[ActSequence], order: int, after: list[str], answer: str) -> dict[str, Fraction]:
    """Witten-Bell, interpolated, straight from its definition (Witten and Bell 1991, method C; Chen and Goodman 1998):
    for each context the recorded decisions are gone through anew. Fractions, no tables, nothing of the program's."""
    decisions = []
    for one in data:
        seen, last = [START], "-"
        for number, act in enumerate([*one.acts, *([STOP] if one.ended else [])]):
            decisions.append((seen[-order:], seen[-1:], last, act))
            seen, last = [*seen, act], one.answers[number] if number < len(one.answers) else "-"
    acts = sorted({act for one in data for act in one.acts})
    history = [START, *after][-order:]
    # Whether a decision was taken in the context, from the widest to the narrowest.
    contexts: list[Callable[[list[str], list[str], str], bool]] = [
        lambda lasts, last, said: lasts != [START],
        lambda lasts, last, said: last == history[-1:],
    ]
    if not after:
        contexts = [lambda lasts, last, said: lasts == [START]]
    elif answer == "-":
        contexts += [
            lambda lasts, last, said: lasts == history,
            lambda lasts, last, said: (lasts, said) == (history, answer),
        ]
    else:
        contexts += [
            lambda lasts, last, said: (last, said) == (history[-1:], answer),
            lambda lasts, last, said: (lasts, said) == (history, answer),
        ]
    possible = acts if not after else [*acts, STOP]
    p = {act: Fraction(1, len(possible)) for act in possible}
    wider: list[str] | None = None
    for holds in contexts:
        followed = sorted(act for lasts, last, said, act in decisions if holds(lasts, last, said))
        if followed and followed != wider:  # the same decisions again are no further evidence
            n, kinds = len(followed), len(set(followed))
            p = {act: (followed.count(act) + kinds * p[act]) / Fraction(n + kinds) for act in possible}
        wider = followed
    return p


@given(data=sequences, order=st.sampled_from([1, 2]), history=st.lists(acts, max_size=4), answer=st.sampled_from("ox-"))
def test_witten_bell_agrees_with_a_simple_implementation_of_its_definition(
    data: list[ActSequence], order: int, history: list[str], answer: str
) -> None:
    table = fit(data, order=order)
    after = [act for act in history if act in table.acts]
    found = table.row(after, answer if after else "-")
    assert found == pytest.approx({act: float(p) for act, p in plain_witten_bell(data, order, after, answer).items()})


def test_if_nothing_is_known_about_the_answer_the_second_act_back_still_counts() -> None:
    """After (a, b) always c, after (b, b) always a, whatever the answer: an unlabelled answer must not hide it."""
    data = [ActSequence(("a", "b", "c"), ("o", "x", "o"), ended=False)] * 30
    data += [ActSequence(("b", "b", "a"), ("x", "o", "x"), ended=False)] * 30
    table = fit(data, order=2)
    assert table.row(["a", "b"], "-")["c"] > 0.9
    assert table.row(["b", "b"], "-")["a"] > 0.9
    assert table.row(["a", "b"], "x")["c"] > 0.9


def test_a_given_row_of_two_acts_applies_to_every_answer() -> None:
    """`answer: "*"` is what a row has that names none; at order 2 such rows were passed over."""
    rows = {
        (("start",), "*"): {"a": 1.0},
        (("a",), "*"): {"a": 0.5, STOP: 0.5},
        (("a", "a"), "*"): {STOP: 1.0},
        (("start", "a"), "x"): {"a": 1.0},
    }
    table = ProbabilityTable(("a",), 2, rows)
    assert table.row(["a", "a"], "o") == {"a": 0, STOP: 1}
    assert table.row(["a"], "x") == {"a": 1, STOP: 0}
    assert table.row(["a"], "o") == {"a": 0.5, STOP: 0.5}


def test_additive_smoothing_leaves_rare_contexts_to_shorter_ones() -> None:
    data = [ActSequence(("ask", "more"), ("o", "x")), ActSequence(("ask",), ("o",)), ActSequence(("ask",), ("x",))]
    exact = fit(data, smoothing="additive", weight=0)
    assert exact.row(["ask"], "o") == pytest.approx({"ask": 0, "more": 0.5, STOP: 0.5})
    assert exact.row(["ask"], "x") == pytest.approx({"ask": 0, "more": 0, STOP: 1})
    asked_twice = fit(data, smoothing="additive", weight=0, least=2)
    assert asked_twice.row(["ask"], "x") == pytest.approx({"ask": 0, "more": 1 / 3, STOP: 2 / 3})
    added = fit(data, smoothing="additive", weight=1)
    assert added.row(["ask"], "o") == pytest.approx({"ask": 1 / 5, "more": 2 / 5, STOP: 2 / 5})


def test_a_recording_that_was_cut_off_counts_no_stop() -> None:
    table = fit([ActSequence(("ask", "more"), ("o", "o"), ended=False)], smoothing="additive", weight=0)
    assert table.row(["ask"], "o")["more"] == 1
    assert table.count(["more"], "o") == 0


def test_the_second_act_back_counts_in_order_two() -> None:
    data = [ActSequence(("a", "b", "a"), ("-",) * 3), ActSequence(("b", "b", "b"), ("-",) * 3)] * 20
    two, one = (fit(data, order=order, smoothing="additive", weight=0) for order in (2, 1))
    assert two.row(["a", "b"])["a"] == 1
    assert two.row(["b", "b"])["a"] == 0
    assert one.row(["a", "b"]) == one.row(["b", "b"])


@pytest.mark.parametrize("trials", [1000, pytest.param(3000, marks=pytest.mark.soak)])
def test_fit_simulate_refit_recovers_the_table(trials: int) -> None:
    truth = build(Options())
    rng, data = np.random.default_rng(5), []
    for trial in range(trials):
        streams = Streams(1, ("markov", "M002", trial))
        state, observation = truth.start(SCENARIO, streams.at(0)), None
        acts, answers, turn = [], [], 0
        while True:
            turn += 1
            action, state = truth.respond(state, observation, streams.at(turn))
            if not isinstance(action, Say):
                break
            observation = (USEFUL, USELESS)[int(rng.integers(2))]
            acts.append(action.state)
            answers.append(observation.label or "-")
        data.append(ActSequence(tuple(acts), tuple(answers)))
    table = fit(data)
    for act in ILLUSTRATIVE.acts:
        for answer in "ox":
            n, given = table.count([act], answer), ILLUSTRATIVE.row([act], answer)
            assert n > trials / 100
            for following, p in table.row([act], answer).items():
                error = math.sqrt(given[following] * (1 - given[following]) / n)
                assert abs(p - given[following]) < 4 * error + 2 / n, (act, answer, following)


def test_draws_follow_the_promised_distribution_at_every_node() -> None:
    user = build(Options())
    rng = Streams(2, ("nodes",))
    opening = user.respond(user.start(SCENARIO, rng), None, rng.at(1))[1]
    further = next(chance.state for chance in user.distribution(opening, USEFUL) if isinstance(chance.action, Say))
    for state in (opening, further):
        for observation in (USEFUL, USELESS, Observation(Answer("so"))):
            drawn_like_promised(user, state, observation, tests=6)


def test_rows_counts_and_words_are_in_a_file() -> None:
    text = """
rows:
  - {after: [start], next: {hello: 1}}
  - {after: [hello], answer: o, next: {stop: 1}}
  - {after: [hello], next: {hello: 0.75, stop: 0.25}}
words: {hello: ["Hello. {{ topic.request }}", "Good day. {{ topic.request }}"]}
"""
    user = build(parse_document(text, "user.yaml").validate_as(Options))
    assert said(user, SCENARIO, [USEFUL]) == ["hello", "left"]
    counts = "counts: [{after: [start], next: {ask: 3}}, {after: [ask], answer: o, next: {more: 2, stop: 1}}]"
    table = parse_document(counts, "user.yaml").validate_as(Options).table()
    assert table == ActTable(("ask", "more"), 1, {(("start",), "-"): {"ask": 3}, (("ask",), "o"): {"more": 2, STOP: 1}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rows: [{after: [start], next: {ask: 0.5}}]", "the probabilities must be in [0, 1] and sum to 1"),
        ("rows: [{after: [start], next: {ask: 1}}]", "the table needs a row after 'ask'"),
        ("rows: [{after: [start], next: {stop: 1}}]", "at least one"),
        ("rows: [{after: [start], next: {ask: 0.5, stop: 0.5}}]", "a user cannot stop before the first turn"),
        (
            "counts: [{after: [start], next: {ask: -1}}]",
            "after start (-): the count of 'ask' must be at least 0 (here: -1)",
        ),
        (
            "counts: [{after: [ask, more], next: {ask: 1}}]",
            "after ask more (-): a table of order 1 cannot have a context of 2 acts",
        ),
        ("{order: 2, counts: [{after: [ask, start], next: {ask: 1}}]}", "'start' precedes all acts"),
        ("{acts: [ask], counts: [{after: [start], next: {tell: 1}}]}", "'tell' is not among the acts: ask"),
        (
            "{acts: [ask], counts: [{after: [tell], next: {ask: 1}}]}",
            "after tell (-): 'tell' is not among the acts: ask",
        ),
        ("{acts: [ask], rows: [{after: [start], next: {ask: 0.5, tell: 0.5}}]}", "'tell' is not among the acts"),
        ("{acts: [ask, stop], counts: [{after: [start], next: {ask: 1}}]}", "'stop' stands for leaving"),
        (
            "{counts: [{after: [start], next: {ask: 1}}], rows: [{after: [start], next: {ask: 1}}]}",
            "give either rows or counts, not both",
        ),
        ("acts: [a, a]\ncounts: [{after: [start], next: {a: 1}}]", "'a' appears twice"),
        ("words: {ask: ['{{ nothing }}']}", "unknown variable 'nothing'"),
        ("words: {ask: ['About {{ item }}.']}", "unknown variable 'item'\n  allowed: topic.asks_for,"),
        ("acts: [ask, tell]", "acts cannot be given without rows or counts"),
        ("order: 2", "order cannot be given without rows or counts\n  allowed: rows: [{after"),
        ("smoothing: additive", "smoothing cannot be given without counts"),
        (
            "{weight: 2, rows: [{after: [start], next: {ask: 1}}, {after: [ask], next: {stop: 1}}]}",
            "weight cannot be given without counts",
        ),
        ("counts: [{after: [start], next: {ask: 0}}]", "nothing was counted"),
        ("counts: [{after: [], next: {ask: 1}}]", "after: needs at least 1 entry, and has 0"),
        ("weight: 2000", "weight: must be at most 1000 (here: 2000)"),
        ("words: {ask: ['  ']}", "a variant is empty"),
        ("words: {ask: []}", "give at least one wording"),
    ],
)
def test_invalid_options_are_reported(text: str, words: str) -> None:
    with pytest.raises(InputError) as fault:
        parse_document(text, "user.yaml").validate_as(Options)
    assert words in str(fault.value)
    assert "user.yaml:" in str(fault.value)


@pytest.mark.parametrize("name", ["rows", "counts"])
def test_an_empty_table_is_not_the_illustrative_one(name: str) -> None:
    with pytest.raises(InputError, match=f"the option {name} is empty") as fault:
        build_user(parse_document(f"simulator: markov\n{name}: []", "u.yaml"))
    assert fault.value.place is not None
    build_user(parse_document("simulator: markov", "u.yaml"))


def test_an_act_without_words_and_words_without_an_act_are_refused() -> None:
    rows = "rows: [{after: [start], next: {FQ: 1}}, {after: [FQ], next: {stop: 1}}]"
    with pytest.raises(InputError, match="act 'FQ' of the Markov user has no words"):
        build(parse_document(rows, "user.yaml").validate_as(Options))
    with pytest.raises(InputError) as fault:
        build_user(parse_document(f"{{simulator: markov, {rows}}}", "user.yaml"))
    for told in ("user.yaml:1:1", "'FQ'", "allowed: acts with words in the options, and ask", "do: add it"):
        assert told in str(fault.value)
    with pytest.raises(InputError, match="the act 'asks' has words but is not in the table"):
        build(Options(words={"asks": ("What?",)}))


def test_a_word_that_the_topic_lacks_ends_it_before_the_first_turn() -> None:
    user = build(Options(words={"more": ("More, please.", "More of {{ topic.fields.genre }}, please.")}))
    with pytest.raises(InputError, match="variant 2 of act 'more': topic 'M002' has no field 'genre'"):
        user.start(SCENARIO, Streams(1))


def test_an_unknown_trait_is_refused() -> None:
    with pytest.raises(InputError, match="does not know the trait 'group'"):
        build(Options()).start(Scenario(MOVIES, {"group": "A"}), Streams(1))


def test_a_stop_model_replaces_the_tables_column() -> None:
    user = build(Options(stop=PatienceBudget(turns=5)))
    acts = said(user, SCENARIO, [USEFUL, USEFUL, USEFUL, USELESS, USELESS, USEFUL])
    assert (len(acts), acts[-1]) == (6, "patience")
    rng = Streams(4)
    opening = user.respond(user.start(SCENARIO, rng), None, rng.at(1))[1]
    found = {c.action.state: 0.0 for c in user.distribution(opening, USEFUL) if isinstance(c.action, Say)}
    for chance in user.distribution(opening, USEFUL):
        assert isinstance(chance.action, Say)
        found[chance.action.state] += chance.probability
    assert found == pytest.approx({"more": 0.45 / 0.65, "detail": 0.2 / 0.65})


def test_if_a_row_contains_only_stop_the_user_leaves_under_any_stop_model() -> None:
    """There is no act left to say, and no stop model decided it: the reason is that of the table."""
    rows = (
        Row(after=("start",), next={"ask": 1.0}),
        Row(after=("ask",), next={"thank": 0.5, STOP: 0.5}),
        Row(after=("thank",), next={STOP: 1.0}),
    )
    words: dict[str, tuple[str, ...]] = {"ask": ("What?",), "thank": ("Thank you.",)}
    user = build(Options(rows=rows, words=words, stop=PatienceBudget(turns=9)))
    assert said(user, SCENARIO, [USEFUL] * 5) == ["ask", "thank", "left"]
    at_once = build(Options(rows=rows, words=words, stop=PatienceBudget(turns=1)))
    assert said(at_once, SCENARIO, [USEFUL] * 5) == ["ask", "patience"]


def test_the_illustrative_table_has_words_for_every_act() -> None:
    assert set(WORDS) == set(ILLUSTRATIVE.acts)
    assert ILLUSTRATIVE.row([START][1:])["ask"] == 1
    assert all(context[1] in ("o", "x", ANY) for context in ILLUSTRATIVE.rows)


def test_impossible_sequences_and_tables_are_refused() -> None:
    for broken in (((), ()), (("a",), ("o", "o")), (("stop",), ("o",))):
        with pytest.raises(ValueError, match=r"act"):
            ActSequence(*broken)
    with pytest.raises(ValueError, match="at least one sequence"):
        fit([])
    with pytest.raises(ValueError, match="order"):
        fit([ActSequence(("a",), ("o",))], order=3)
    with pytest.raises(ValueError, match="order"):
        ProbabilityTable(("a",), 3, {})
    for value in (None, {}, {"acts": ["a"], "order": 1, "smoothing": "additive", "counts": [{"after": "a"}]}):
        with pytest.raises(ValueError, match="a table of acts must"):
            ActTable.from_json(value)


def test_an_answer_out_of_turn_is_an_error_of_the_caller() -> None:
    user, rng = build(Options()), Streams(1)
    state = user.start(SCENARIO, rng)
    with pytest.raises(ValueError, match="has not begun"):
        user.respond(state, USEFUL, rng)
    opened = user.respond(state, None, rng)[1]
    with pytest.raises(ValueError, match="an answer is needed"):
        user.respond(opened, None, rng)
    with pytest.raises(ValueError, match="over"):
        user.respond(replace(opened, over=True), USEFUL, rng)
    with pytest.raises(ValueError, match="not a memory"):
        user.respond({}, None, rng)
