"""Topics and runs of TREC's tracks of conversations and of generation: CAsT, iKAT and RAG.

    [{"number": 132, "turn": [{"number": "1-1", "utterance": …, "response": …, "provenance": […]}, …]}]      CAsT topics
    [{"number": "1-1", "turns": [{"turn_id": 1, "utterance": …, "response": …}, …]}]                        iKAT topics
    {"run_name": …, "turns": [{"turn_id": "9-1_1", "responses": [{"rank": 1, "text": …, …}]}, …]}       iKAT run to 2024
    {"metadata": {"run_id": …}, "turn_id": "1-1_2", "responses": [{"text": …, "citations": {…}}], …}    iKAT run of 2025
    {"run_id": …, "topic_id": …, "topic": …, "references": […], "answer": [{"text": …, "citations": [0]}, …]}        RAG

Topics with responses are conversations with the system `canonical`. Runs of iKAT name turns, but not what the user
said: give the topics in the same command, and their utterances are used. Of ranked responses, the first counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from protocols.answer import Source
from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text, json_values, topic_name
from topics.json_value import JsonValue
from topics.regular_file import read_bytes

SYSTEM = "canonical"
_UTTERANCES = ("utterance", "user_utterance", "raw_utterance")
_TURN_LISTS = ("turn", "turns", "responses")


def _turns(value: Json) -> list[Any]:
    held = value if isinstance(value, dict) else {}
    return next((held[key] for key in _TURN_LISTS if isinstance(held.get(key), list)), [])


def _holds_topics(value: Json) -> bool:
    """Return True for a topic whose turns are in order. A topic whose turns have parents is a tree."""
    turns = _turns(value)
    first = turns[0] if turns else None
    return (
        has_keys(value, "number")
        and isinstance(first, dict)
        and any(key in first for key in _UTTERANCES)
        and "participant" not in first
    )


def utterances_in(files: Iterable[Path]) -> dict[tuple[str, str], str]:
    """Return the user's words in the turns of the topics in the files, by (topic, turn). Other values are skipped."""
    found: dict[tuple[str, str], str] = {}
    for file in files:
        for value in json_values(read_bytes(file), str(file), lambda _: None):
            if not _holds_topics(value.value):
                continue
            number = id_text(value["number"])
            for turn in _turn_values(value):
                text = next((turn[key].value for key in _UTTERANCES if turn.has_key(key)), None)
                if isinstance(text, str):
                    found[number, _turn_number(turn)] = text
    return found


def _turn_values(value: JsonValue) -> list[JsonValue]:
    key = next((key for key in _TURN_LISTS if value.has_key(key)), _TURN_LISTS[0])
    return value[key].elements()


def _turn_number(turn: JsonValue) -> str:
    return id_text(turn["turn_id" if turn.has_key("turn_id") else "number"])


def _response(turn: JsonValue) -> JsonValue | None:
    """Return the track's own response to a turn; in 2021, it is a passage."""
    return next((turn[key] for key in ("response", "passage") if turn.has_key(key)), None)


def _read_topic(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (topic,) = group
    number, messages = id_text(topic["number"]), list[Json]()
    states: list[Json] = []
    unanswered: JsonValue | None = None
    turns = _turn_values(topic)
    if not any(map(_response, turns)):
        raise topic.error(
            "this topic has no responses, so it is not a conversation",
            advice="use its utterances as a topic of an audit, or give the topics together with an iKAT run",
        )
    for turn in turns:
        key = next((key for key in _UTTERANCES if turn.has_key(key)), _UTTERANCES[0])
        if messages and unanswered:
            raise unanswered.error("this turn has no response, but another turn follows")
        sources = next((turn[one].value for one in _PROVENANCE if turn.has_key(one)), None)
        named = [Source("", one) for one in (sources if isinstance(sources, list) else ()) if isinstance(one, str)]
        messages.append({"role": "user", "content": turn[key].text()})
        if answer := _response(turn):
            messages.append({"role": "assistant", "content": answer.value, "sources": named})
        else:
            unanswered = turn
        states.append(_turn_number(turn))
    metadata: dict[str, Json] = {"system": SYSTEM, "topic": topic_name(number), "states": states}
    yield Record({"messages": messages, "metadata": metadata}, topic)


_PROVENANCE = ("response_provenance", "provenance", "citations")


def _holds_ikat(value: Json) -> bool:
    return has_keys(value, "run_name", "turns") or has_keys(value, "metadata", "turn_id", "responses")


def _group_ikat(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    """Put the turns of each run and topic together, after the value that names the run."""
    found: dict[tuple[str, str], list[JsonValue]] = {}
    for value in values:
        if _holds_topics(value.value):
            continue  # whose utterances are among the options
        if value.has_key("run_name"):
            run, turns = value["run_name"].text(), value["turns"].elements()
        else:
            run, turns = value["metadata"]["run_id"].text(), [value]
        for turn in turns:
            topic = _turn_name(turn)[0]
            found.setdefault((run, topic), [value]).append(turn)
    return found.values()


def _turn_name(turn: JsonValue) -> tuple[str, str]:
    topic, mark, number = turn["turn_id"].text().rpartition("_")
    if not mark:
        raise turn["turn_id"].error("this is not the name of a turn", allowed="TOPIC_TURN, such as 9-1_1")
    return topic, number


def _read_ikat(group: Group, options: ShapeOptions) -> Iterator[Record]:
    run, *turns = group
    name = run["run_name"].text() if run.has_key("run_name") else run["metadata"]["run_id"].text()
    passed: Counter[str] = Counter()
    messages: list[Json] = []
    states = []
    topic = ""
    for turn in sorted(turns, key=lambda one: _in_order(_turn_name(one)[1])):
        topic, number = _turn_name(turn)
        responses = turn["responses"].elements()
        if not responses:
            raise turn["responses"].error("this turn has no response")
        ranked = [one for one in responses if one.has_key("rank")]
        if ranked:  # each is an answer; of 2025, they are the passages of one
            best = min(ranked, key=lambda one: one["rank"].index())
            passed["responses of lower ranks"] += len(responses) - 1
            responses = [best]
        sources = [source for one in responses for source in _sources(one)]
        known = [one["ptkb_provenance"].value for one in responses if one.has_key("ptkb_provenance")]
        passed["statements about the user that an answer used"] += sum(
            len(one) for one in known if isinstance(one, list)
        )
        asked = {"role": "user", "content": options.beside.get((topic, number), "")}
        said = " ".join(str(one["text"].value) for one in responses if one["text"].value is not None)
        messages += (asked, {"role": "assistant", "content": said, "sources": list(dict.fromkeys(sources))})
        states.append(f"{topic}_{number}")
        passed["turns without the user's words (give the topics, too)"] += (topic, number) not in options.beside
    metadata: dict[str, Json] = {"system": name, "topic": topic_name(topic), "states": states}
    yield Record({"messages": messages, "metadata": metadata}, turns[0], "", passed)


def _in_order(number: str) -> tuple[int, int, str]:
    return (0, int(number), "") if number.isdecimal() and len(number) < 10 else (1, 0, number)


def _sources(response: JsonValue) -> Iterator[Source]:
    for key in ("passage_provenance", "citations"):
        given = response[key].value if response.has_key(key) else None
        for one in given if isinstance(given, list | dict) else ():
            if isinstance(one, str):
                yield Source(one if one.startswith(("http://", "https://")) else "", one)
            elif isinstance(one, dict) and one.get("used") is not False and isinstance(one.get("id"), str):
                text = one.get("text")
                yield Source("", one["id"], text=text if isinstance(text, str) else "")


def _holds_rag(value: Json) -> bool:
    return has_keys(value, "references", "answer") and (
        has_keys(value, "topic_id") or has_keys(value, "metadata") or has_keys(value, "narrative_id")
    )


def _read_rag(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (row,) = group
    about = row["metadata"] if row.has_key("metadata") else row
    number = id_text(about["topic_id" if about.has_key("topic_id") else "narrative_id"])
    words = next((about[key].text() for key in ("topic", "narrative", "title") if about.has_key(key)), "")
    references = [one.value for one in row["references"].elements()]
    texts, cited = [], dict[str, None]()
    for sentence in row["answer"].elements():
        texts.append(sentence["text"].text())
        for place in sentence["citations"].elements() if sentence.has_key("citations") else ():
            if isinstance(place.value, int) and place.index() < len(references):
                cited[str(references[place.index()])] = None
            elif isinstance(place.value, str):
                cited[place.value] = None
            else:
                raise place.error("this is not a reference of the answer", allowed=f"0 to {len(references) - 1}")
    sources = [Source(one if one.startswith(("http://", "https://")) else "", one) for one in cited]
    messages = [
        {"role": "user", "content": words},
        {"role": "assistant", "content": " ".join(texts), "sources": sources},
    ]
    metadata: dict[str, Json] = {"system": about["run_id"].text(), "topic": topic_name(number)}
    yield Record({"messages": messages, "metadata": metadata}, row)


TOPICS = Shape(
    "trec-topics",
    "topics of TREC CAsT and iKAT whose turns are in order, with the track's own responses",
    _holds_topics,
    _read_topic,
)
IKAT = Shape(
    "ikat",
    "runs of TREC iKAT; with the track's topics in the same command, they have the users' words",
    _holds_ikat,
    _read_ikat,
    _group_ikat,
    beside=utterances_in,
)
RAG = Shape("rag", "answers of TREC's RAG tracks, every answer a conversation of one turn", _holds_rag, _read_rag)
