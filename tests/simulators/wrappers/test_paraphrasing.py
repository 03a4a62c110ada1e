"""The paraphrasing user: what is guarded survives, rates are what was asked, and nothing else changes."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.library import load_protocol
from protocols.route import Say
from simulators import markov
from simulators.registry import build_users
from simulators.scripted import ScriptedUser
from simulators.user import EnumerableUser, Observation, State, Streams
from simulators.wrappers import paraphrasing
from simulators.wrappers.changes import CHANGES, keyword_form, synonym_form
from simulators.wrappers.guards import cut_pieces, guarded_parts, join_pieces
from simulators.wrappers.paraphrasing import Options, paraphrase, realised_rates
from tests.support.talking import SCENARIO, TOPIC, answer, conversation, draws_fit, texts, through_json
from topics.document import parse_document
from topics.errors import InputError

INNER = markov.build(markov.Options())
ALL = dict.fromkeys(CHANGES, 1.0)

PLAIN = ("please", "list", "movies", "about", "time", "travel", "the", "best", "can", "you", "find", "films", "good")
KEPT = (
    *("2004", "$3.50", "7th", "tt0390384", "1,200", "three", "not", "without", "IMDb", "iMDB", "Kyoto", "Tarkovsky"),
    *("https://www.imdb.com/title/tt0390384/?ref_=x", "imdb.com", "me@example.org", '"Back to the Future"'),
    *("“La Jetée”", "«Alphaville»", "「君の名は。」", "Lord of the Rings", "{title}", "`code`"),
)
sentences = st.lists(
    st.lists(st.sampled_from([*PLAIN, *KEPT]), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=3
).map(lambda parts: "".join(f"See {part}. " for part in parts).strip())
rates = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.3, 1.0]) for name in CHANGES})


def _built(text: str) -> Options:
    return parse_document(text, "options.yaml").validate_as(Options)


@given(sentences, rates, st.integers(0, 2**32))
def test_guarded_pieces_survive_every_paraphrase(text: str, asked: dict[str, float], seed: int) -> None:
    said, _ = paraphrase(text, asked, Streams(seed))
    for kept in set(re.findall("|".join(map(re.escape, sorted(KEPT, key=len, reverse=True))), text)):
        assert said.count(kept) == text.count(kept), (kept, said)


@given(st.text(max_size=200), rates, st.integers(0, 2**32))
def test_in_any_text_the_guarded_pieces_are_unchanged_and_words_are_never_all_lost(
    text: str, asked: dict[str, float], seed: int
) -> None:
    assert join_pieces(cut_pieces(text)) == text
    said, _ = paraphrase(text, asked, Streams(seed))
    assert all(kept in said for kept in guarded_parts(text))
    assert bool(said.strip()) == bool(text.strip())


@given(st.text(max_size=200), st.integers(0, 2**32))
def test_rate_0_is_the_identity(text: str, seed: int) -> None:
    said, tally = paraphrase(text, {}, Streams(seed))
    assert said == text
    assert all(did == 0 for _, did in tally.values())


def test_a_user_at_rate_0_equals_the_wrapped_user_in_every_draw() -> None:
    user = paraphrasing.build(_built("typos: 0.0"), INNER)
    for trial in range(20):
        streams = Streams(3, ("x", trial))
        plain = conversation(INNER, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]))
        found = conversation(user, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]))
        assert [(action, state.inner) for action, state in found] == plain


@pytest.mark.parametrize("kind", list(CHANGES))
@pytest.mark.parametrize("rate", [0.5, pytest.param(0.1, marks=pytest.mark.soak)])
def test_over_many_turns_the_observed_rate_is_near_the_requested_one(kind: str, rate: float) -> None:
    text = "I want good films about robots. Find the best ones and list some recent movies. Show them with details."
    could = did = 0
    for turn in range(500):
        _, tally = paraphrase(text, {kind: rate}, Streams(11, (turn,)))
        could, did = could + tally[kind][0], did + tally[kind][1]
    assert could >= 500
    assert abs(did / could - rate) < 4 * math.sqrt(rate * (1 - rate) / could)


@given(sentences, st.sampled_from(["typos", "case", "synonyms", "politeness", "keywords", "order"]), st.integers(0, 99))
def test_a_counted_change_is_visible_and_an_uncounted_one_is_not(text: str, kind: str, seed: int) -> None:
    said, tally = paraphrase(text, {kind: 1.0}, Streams(seed))
    could, did = tally[kind]
    assert did == could
    if kind != "order":  # sentences that are the same can change places
        assert (said != text) == (did > 0)
    assert not any(sum(tally[other]) > tally[other][0] for other in CHANGES if other != kind)


def test_each_kind_does_what_it_says() -> None:
    text = "Please find the best movies about robots. Only three, from 2004!"
    assert paraphrase(text, {"order": 1.0}, Streams(1))[0] == (
        "Only three, from 2004! Please find the best movies about robots."
    )
    assert keyword_form(text) == "find best movies robots Only three 2004"
    assert synonym_form(text) == "Please look up the top films about robots. Only three, from 2004!"
    assert {paraphrase(text, {"case": 1.0}, Streams(seed))[0] for seed in range(20)} == {
        "please find the best movies about robots. Only three, from 2004!",
        "PLEASE FIND THE BEST MOVIES ABOUT ROBOTS. Only three, FROM 2004!",
    }
    assert paraphrase(text, {"politeness": 1.0}, Streams(1))[0] == text, "it is polite already"
    assert paraphrase("Name films.", {"politeness": 1.0}, Streams(1))[0] != "Name films."
    typed = paraphrase(text, {"typos": 1.0}, Streams(5))[0]
    assert typed.split()[2] == "the", "words of three letters are left alone"
    assert [old == new for old, new in zip(text.split(), typed.split())] == [
        *(False, False, True, False, False, False, False, True, True, False, True)
    ]


def test_a_keyword_query_has_each_word_once_and_names_as_often_as_they_occur() -> None:
    assert keyword_form("Which films are like the films of today, the films I know?") == "films like today know"
    assert keyword_form("Is a robot-film about a robot a film?") == "robot-film robot film"
    assert keyword_form("What do you know about New York, New York?") == "know New York New York"
    assert keyword_form("film film") == "film film", "nothing is left out where nearly all would be"


def test_a_second_line_with_a_format_keeps_the_topics_wording() -> None:
    text = f"Please list movies about robots.\nFormat: {TOPIC.asks_for}"
    said, _ = paraphrase(text, ALL, Streams(4), (TOPIC.asks_for,))
    assert TOPIC.asks_for in said
    user = paraphrasing.build(Options(typos=1.0, case=1.0), INNER)
    assert TOPIC.asks_for in user.start(SCENARIO, Streams(1)).guard


def test_other_scripts_are_not_changed_and_english_rules_for_other_languages_are_refused() -> None:
    japanese = "二〇〇四年の映画を教えてください。ありがとう。"
    said, tally = paraphrase(japanese, ALL, Streams(1))
    assert said == japanese
    assert all(counts == (0, 0) for counts in tally.values())
    with pytest.raises(InputError, match=r"synonyms: the rules exist only for English, not for 'ja'"):
        _built("{language: ja, synonyms: 0.5}")
    assert _built("{language: ja, typos: 0.5}").rates["typos"] == 0.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{guard: [x]}", "give at least one rate"),
        ("{typos: 1.5}", "at most 1"),
        ("{typo: 0.1}", "did you mean 'typos'"),
        ("{typos: 0.1, guard: [' ']}", "a phrase is empty"),
    ],
)
def test_options_without_effect_are_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        _built(text)


def test_the_memory_counts_actual_changes_and_survives_json_at_every_turn() -> None:
    user = paraphrasing.build(Options(typos=0.5, synonyms=0.5, case=0.5), INNER)
    for trial in range(20):
        streams = Streams(5, ("paraphrasing", trial))
        found = conversation(user, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]))
        again = conversation(user, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]), json_between=True)
        assert texts(found) == texts(again)
        last = through_json(found[-1][1])
        realised = realised_rates(last)
        assert 0 <= realised["typos"] <= 1
        assert realised["keywords"] == 0
        assert math.isnan(realised_rates(user.start(SCENARIO, streams))["typos"]), "nothing said, nothing realised"
        plain = conversation(INNER, SCENARIO, streams, lambda turn: answer(label="ox"[turn % 2]))
        for (said, _), (meant, _) in zip(found, plain):
            if isinstance(said, Say) and isinstance(meant, Say):
                said = replace(said, text=meant.text)
            assert said == meant


def test_trials_differ_and_a_fork_says_the_same_words() -> None:
    user = paraphrasing.build(Options(typos=0.5), INNER)
    openings = {texts(conversation(user, SCENARIO, Streams(1, (t,)), lambda _: answer(), limit=1))[0] for t in range(9)}
    assert len(openings) > 5
    state = user.start(SCENARIO, Streams(1))
    forks = [user.respond(state, None, Streams(1).at("fork", fork))[0] for fork in range(5)]
    assert len(set(forks)) == 1, "the opening of the user within has one wording"


def test_a_draw_is_a_draw_from_the_distribution_after_every_answer() -> None:
    user = paraphrasing.build(Options(typos=0.4, case=0.5, keywords=0.5), INNER)
    assert isinstance(user, EnumerableUser)
    state: State = user.start(SCENARIO, Streams(2))
    observation: Observation | None = None
    for label in ("o", "x", None, "o"):
        chances = draws_fit(user, state, observation, tests=4)
        going = [chance for chance in chances if isinstance(chance.action, Say)]
        state, observation = going[0].state, answer(label=label)


def test_a_memory_of_another_user_is_refused() -> None:
    user = paraphrasing.build(Options(typos=0.5), INNER)
    with pytest.raises(ValueError, match="not a memory of a paraphrasing user"):
        user.respond(INNER.start(SCENARIO, Streams(1)), None, Streams(1))


@pytest.mark.parametrize("in_a_protocol", [False, True])
def test_phrases_by_which_a_probe_judges_are_not_changed(in_a_protocol: bool) -> None:
    protocol = load_protocol("consistency-and-retention")
    users = build_users(protocol)
    inner = ScriptedUser(protocol, users) if in_a_protocol else users["friend"]
    user = paraphrasing.build(Options(typos=1.0, keywords=1.0, synonyms=1.0), inner)
    for seed in range(8):
        said = " ".join(
            texts(conversation(user, SCENARIO, Streams(seed), lambda turn: Observation(Answer("Noted.")), limit=3))
        )
        assert "Kyoto" in said
        assert "Biscuit" in said
        assert "eanuts" in said
