"""One run, one system: answers that are cut, filtered, repeated or of another model are counted beside the figures."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.report.document import make_report
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from harvest.studies.validity.odd_answers import odd_answers
from harvest.studies.validity.odd_languages import odd_languages, unknown_languages
from protocols.answer import Answer, Attachment, Offer
from protocols.route import Route
from protocols.rules.refusal import Refusal
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.files.evidence import keep_exhibit
from recordings.log.run_folder import read
from tests.servers.local_http import Asked, response, serving
from tests.support.forked_commands import run_forked


def played(replies: Sequence[SystemTurn], topic: str = "T1", trial: int = 1, system: str = "mine") -> Conversation:
    turns = tuple(Turn(number, "ask", "And?", reply) for number, reply in enumerate(replies, start=1))
    return Conversation(TrialKey(system, topic, trial), f"{system}{topic}{trial}", 1, turns, Outcome("completed"))


def told(*conversations: Conversation, folders: Mapping[str, Path] | None = None) -> list[str]:
    return list(odd_answers(conversations, conversations, folders or {}))


def ended(*finishes: str) -> list[str]:
    """Of one conversation whose answers, all different, ended so."""
    return told(played([SystemTurn(Answer(f"Answer {at}."), finish=one) for at, one in enumerate(finishes)]))


@pytest.mark.parametrize(
    "finish",
    ["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "model_length", "maxTokens", "Max Tokens"],
)
def test_every_word_for_a_limit_counts_as_cut(finish: str) -> None:
    assert ended("stop", finish, finish) == [
        f"mine: 2 of 3 answers cut by the system's own limit ({finish}), counted as they are."
    ]


@pytest.mark.parametrize("finish", ["content_filter", "SAFETY", "guardrail_intervened", "refusal", "contentFilter"])
def test_every_word_for_a_filter_counts_as_filtered(finish: str) -> None:
    assert ended(finish, "stop") == [
        f"mine: 1 of 2 answers filtered by the system itself ({finish}), counted as they are."
    ]


def test_answers_that_changed_after_they_had_been_read_are_counted() -> None:
    def cut(reason: str, system: str) -> Conversation:
        one = played([SystemTurn(Answer("One moment."))], system=system)
        return replace(one, outcome=Outcome("invalid", reason))

    attempts = [cut("went-on", "mine"), cut("went-on", "mine"), cut("went-on", "theirs"), cut("timeout", "theirs")]
    (sentence,) = odd_answers(attempts, [], {})
    assert sentence.startswith("3 answers that went on, or made way for another, after being read (mine x 2, ")


@pytest.mark.parametrize("finish", ["", "stop", "STOP", "end_turn", "eos", "tool_calls", "signs", "quiet", "COMPLETE"])
def test_ordinary_ends_are_not_counted(finish: str) -> None:
    assert ended(finish, finish) == []


def test_several_words_for_a_limit_are_one_count() -> None:
    assert ended("length", "max_tokens", "length") == [
        "mine: 3 of 3 answers cut by the system's own limit (length, max_tokens), counted as they are."
    ]


def test_answers_of_several_models_are_counted_by_model() -> None:
    def by(*models: str) -> list[str]:
        return told(played([SystemTurn(Answer(f"Answer {at}."), model=one) for at, one in enumerate(models)]))

    assert by("big", "small", "big", "") == [
        "mine: 4 answers by two models: big x 2, small x 1, not named x 1; all are in its figures."
    ]
    assert by("big", "big") == by("", "") == by("big", "") == []
    assert "by 7 models: " in by(*"abcdefg")[0]
    assert "2 more" in by(*"abcdefg")[0]


def test_each_system_is_counted_separately() -> None:
    cut = SystemTurn(Answer("a"), finish="length", model="big")
    whole = SystemTurn(Answer("b"), finish="stop", model="small")
    assert told(played([cut]), played([whole], system="other")) == [
        "mine: 1 of 1 answer cut by the system's own limit (length), counted as they are."
    ]


def test_topics_whose_trials_all_have_the_same_answer_are_counted() -> None:
    def trials(topic: str, *texts: str) -> list[Conversation]:
        return [played([SystemTurn(Answer(one))], topic, trial) for trial, one in enumerate(texts, start=1)]

    each = [*trials("T1", "a", "a", "a"), *trials("T2", "a", "b", "a"), *trials("T3", "a"), *trials("T4", "", "")]
    assert "mine: all trials of 1 of 2 topics have the same words (6 conversations, 3 different)." in told(*each)
    assert not [one for one in told(*trials("T1", "a", "b"), *trials("T2", "a")) if "same words" in one]


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_sentence_on_equal_words_agrees_with_a_simple_count(texts: list[list[str]]) -> None:
    each = [
        played([SystemTurn(Answer(one))], f"T{topic}", trial)
        for topic, of_topic in enumerate(texts)
        for trial, one in enumerate(of_topic)
    ]
    several = [one for one in texts if len(one) > 1]
    same = [one for one in several if one == one[:1] * len(one)]
    found = [one for one in told(*each) if "have the same words" in one]
    assert len(found) == bool(same)
    assert all(f"all trials of {len(same)} of {len(several)} topic" in one for one in found)


def kept(run: Path, text: str, name: str, *, stream: bool = False, shape: str = "choices") -> SystemTurn:
    """An answer whose body, with this reply id, is in the run's evidence."""
    body = json.dumps({"id": name, shape: [{"text": text}]})
    if stream:
        address = keep_exhibit(run, f"data: {body}\n\ndata: [DONE]\n\n".encode(), "text/event-stream")
        return SystemTurn(Answer(text), evidence={"stream": address})
    return SystemTurn(Answer(text), evidence={"response": keep_exhibit(run, body.encode(), "application/json")})


def cached(run: Path, *conversations: Sequence[SystemTurn]) -> list[str]:
    each = [played(replies, trial=trial) for trial, replies in enumerate(conversations, start=1)]
    return [one for one in told(*each, folders={"mine": run}) if "reply id" in one]


@pytest.mark.parametrize("stream", [False, True])
def test_replies_repeated_with_their_id_are_counted(tmp_path: Path, stream: bool) -> None:
    one, again = kept(tmp_path, "a", "id-1", stream=stream), kept(tmp_path, "a", "id-1", stream=stream)
    fresh = kept(tmp_path, "a", "id-2", stream=stream)
    assert cached(tmp_path, [one], [again], [fresh]) == [
        "mine: 1 of 3 answers came with the words and the reply id of an earlier trial, as from a cache."
    ]


def test_equal_words_with_new_ids_and_ids_of_sessions_are_not_a_cache(tmp_path: Path) -> None:
    assert cached(tmp_path, [kept(tmp_path, "a", "id-1")], [kept(tmp_path, "a", "id-2")]) == []
    session = kept(tmp_path, "a", "session", shape="reply")
    assert cached(tmp_path, [session], [session]) == []
    within = kept(tmp_path, "a", "id-1")
    assert cached(tmp_path, [within, within]) == []  # said twice in one conversation: it may be what it was asked


def test_an_id_that_comes_with_other_words_too_is_no_sign_of_a_cache(tmp_path: Path) -> None:
    """Some servers give all their replies one id, such as chatcmpl-0."""
    always = [[kept(tmp_path, text, "chatcmpl-0")] for text in ("Sorry.", "Sorry.", "It is 1.", "It is 2.")]
    assert cached(tmp_path, *always) == []
    twice = [[kept(tmp_path, text, "chatcmpl-0")] for text in ("Sorry.", "Sorry.", "It is 1.", "It is 1.")]
    assert cached(tmp_path, *twice) == []
    both = [*always, [kept(tmp_path, "Yes.", "id-7")], [kept(tmp_path, "Yes.", "id-7")]]
    assert cached(tmp_path, *both) == [
        "mine: 1 of 6 answers came with the words and the reply id of an earlier trial, as from a cache."
    ]


def test_bodies_that_are_missing_or_not_json_are_not_used(tmp_path: Path) -> None:
    gone = SystemTurn(Answer("a"), evidence={"response": f"evidence/ab/{'ab' * 20}.json"})
    page = SystemTurn(Answer("a"), evidence={"response": keep_exhibit(tmp_path, b"<p>a</p>", "text/html")})
    listed = SystemTurn(Answer("a"), evidence={"stream": keep_exhibit(tmp_path, b": ping\n\n", "text/event-stream")})
    for one in (gone, page, listed):
        assert cached(tmp_path, [one], [replace(one)]) == []


AUDIT = """\
format: harvest-audit/1
name: gateway
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
trials: 2
systems:
  - {{name: mine, driver: openai, options: {{base_url: "{url}", model: m}}}}
"""


async def test_run_score_and_report_agree_and_no_figure_moves(tmp_path: Path) -> None:
    asked_so_far: list[int] = []

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        asked_so_far.append(len(asked.json["messages"]))
        choice = {"index": 0, "message": {"content": "I think that it is"}, "finish_reason": "length"}
        model = "big" if len(asked_so_far) % 2 else "small"
        writer.write(response("200 OK", json.dumps({"id": "same", "model": model, "choices": [choice]})))

    async with serving(handler) as server:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(url=server.url))
        done = await asyncio.to_thread(run_forked, "run", "audit.yaml", "--out", "run", "--no-report", cwd=tmp_path)
    run = read(tmp_path / "run")
    material = gather_runs(run).material
    scored = score_material(material)
    page = json.dumps(make_report([run], beside=tmp_path).document, ensure_ascii=False)
    n = len(asked_so_far)
    for sentence in (
        f"mine: {n} answers by two models: ",
        f"mine: {n} of {n} answers cut by the system's own limit (length), counted as they are.",
        "mine: all trials of 2 of 2 topics have the same words (4 conversations, 2 different).",
        f"of {n} answers came with the words and the reply id of an earlier trial, as from a cache.",
    ):
        assert sentence in " ".join(done.stdout.split())
        assert any(sentence in note for note in scored.notes)
        assert sentence in page
    whole = tuple(
        replace(
            one, turns=tuple(replace(turn, reply=SystemTurn(turn.reply.answer)) for turn in one.turns if turn.reply)
        )
        for one in material.conversations
    )
    mended = score_material(replace(material, conversations=whole, folders={}))
    assert not any("models" in note or "cut by" in note or "reply id" in note for note in mended.notes)
    assert repr(mended.joint) == repr(scored.joint)


def asked(said: str, *answers: Answer) -> Conversation:
    turns = tuple(Turn(number, "ask", said, SystemTurn(one)) for number, one in enumerate(answers, start=1))
    return Conversation(TrialKey("mine", "T1", 1), "mine", 1, turns, Outcome("completed"))


def test_answers_in_another_language_than_the_question_are_counted_if_both_are_recognised() -> None:
    said = "When does the shop in the high street open on Monday?"
    german, english = (
        Answer("Am Montag öffnen wir um neun."),
        Answer("On Monday the shop opens at nine in the morning."),
    )
    assert list(odd_languages([asked(said, german, english, Answer("Primer (2004)"))])) == [
        "mine: 1 of 2 answers whose language was detected are in another one than the user's turn (en > de x 1)."
    ]
    assert list(odd_languages([asked(said, english)])) == []
    assert list(odd_languages([asked("Ja?", german)])) == []


def test_answers_in_a_language_that_a_rule_does_not_know_are_counted() -> None:
    said = "Hvornår åbner butikken om mandagen?"
    danish = Answer("Det kan jeg desværre ikke hjælpe med, og jeg må ikke udtale mig om det.")
    whole = asked(
        said,
        danish,
        danish,
        Answer("Sorry, I can't help."),
    )

    def labelled(version: str) -> Conversation:
        route = Route(1, "ask", "x", "otherwise", version, (), "")
        return replace(whole, turns=tuple(replace(turn, route=route) for turn in whole.turns))

    assert list(unknown_languages([labelled(f"urls/1 any(empty/2 {Refusal.version})")])) == [
        f"The rule {Refusal.version} helped to label 2 answers in languages that it does not know (Danish x 2), where "
        "it cannot see what it looks for."
    ]
    assert list(unknown_languages([labelled("refusal/3"), labelled("urls/1"), whole])) == []


def test_a_picture_or_a_choice_without_a_word_is_not_an_empty_reply() -> None:
    picture = Answer("", attachments=(Attachment("a.png", "image/png"),))
    assert told(asked("And?", picture, Answer("", offers=(Offer("Yes"),)))) == []
    assert told(asked("And?", Answer("\u200b "), picture)) == ["1 empty reply, counted as answers (mine x 1)."]
