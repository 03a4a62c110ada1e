"""Dialogue acts read from a run folder, a file of acts, or one of two public data sets: IARD and search sessions."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from recordings.acts.dialogue import ActTurn, Dialogue, Dialogues, extract_dialogues
from recordings.files.json_text import Json, encode_line, read_lines
from recordings.log.run_folder import is_run, read
from topics.errors import InputError, Place
from topics.json_file import read_json_value, value_at

Level = Literal["top", "sub"]
_TOP, _SUB = "top-level intent/action", "sub-intent/action"
_OTHER_INTENT = "OTH"


def is_iard(value: Json) -> bool:
    """Return True if a JSON value has the form of the IARD file."""
    first = next(iter(value.values()), None) if isinstance(value, dict) else None
    return isinstance(first, dict) and "dialogue_info" in first


def read_iard(path: str | PathLike[str], *, level: Level = "top") -> tuple[Dialogue, ...]:
    """Read the IARD dialogues in the file at `path`. Raises InputError, naming the dialogue and the utterance.

    In each dialogue two people talk about films, and one of them recommends. The intents of both sides are annotated:

        {"474": {"accepted_recommendation": [13], "dialogue_info": {
            "S1": {"role": "seeker", "worker_id": 1, "top-level intent/action": ["AskForRec"], …}, …}}}

    The seeker is read as the user. An utterance may have several intents, but gets a single act. At the level `top`,
    the act is the set of its top-level intents, such as `AddDetails+GiveFeedback`; OTH (greetings, thanks, other talk)
    is left out if there is another intent. At the level `sub`, the act is the first sub-intent other than OTH. Answers
    are the recommender's top-level actions, joined in the same way. Utterances of the recommender before the seeker's
    first utterance are left out, because the user of a system opens the conversation. Every dialogue counts as ended by
    the seeker, because the file does not say who closed the dialogue. The person is the seeker's `worker_id`, and is
    unknown if the file gives none. The score is 1 if a recommendation was accepted, else 0.

    Source: W. Cai, L. Chen, "Predicting User Intents and Satisfaction with Dialogue-based Conversational
    Recommendations", UMAP 2020.
    """
    place = Place.of(path)
    return dialogues_in_iard(read_json_value(path).value, place, level=level)


def dialogues_in_iard(value: Json, place: Place, *, level: Level = "top") -> tuple[Dialogue, ...]:
    """Return the dialogues in the JSON value of the IARD file, as `read_iard` does."""
    if not isinstance(value, dict) or not is_iard(value):
        raise InputError("this is not the IARD file", place=place, allowed='{"474": {"dialogue_info": {…}}, …}')
    return tuple(_dialogue_in_iard(str(name), row, place, level) for name, row in value.items())


def _dialogue_in_iard(name: str, row: Json, place: Place, level: Level) -> Dialogue:
    if not isinstance(row, dict) or not isinstance(row.get("dialogue_info"), dict):
        raise InputError(f"dialogue {name} has no 'dialogue_info'", place=place)
    turns: list[ActTurn] = []
    person = ""
    waiting = False
    for number, said in row["dialogue_info"].items():
        where = f"dialogue {name}, utterance {number}"
        if not isinstance(said, dict) or said.get("role") not in ("seeker", "recommender"):
            raise InputError(f"{where} has no role", place=place, allowed="seeker, recommender")
        if said["role"] == "seeker":
            if waiting:
                raise InputError(f"{where}: the seeker speaks twice in a row", place=place)
            intents = _intents(said, _TOP if level == "top" else _SUB, where, place)
            words = said.get("utterance_text")
            act = "+".join(sorted(set(intents))) if level == "top" else intents[0]
            turns.append(ActTurn(act, said=words if isinstance(words, str) else ""))
            worker = said.get("worker_id")
            if isinstance(worker, bool) or not isinstance(worker, (int, str, type(None))):
                raise InputError(
                    f"{where}: 'worker_id' is neither a number nor text",
                    place=place,
                    allowed='17, "w17", or null if unknown',
                )
            person, waiting = person if worker is None else str(worker) or person, True
        elif waiting:
            answer = "+".join(sorted(set(_intents(said, _TOP, where, place))))
            turns[-1], waiting = replace(turns[-1], answer=answer), False
        elif turns:
            raise InputError(f"{where}: the recommender speaks twice in a row", place=place)
    if not turns:
        raise InputError(f"dialogue {name}: the seeker has no utterance", place=place)
    accepted = bool(row.get("accepted_recommendation"))
    return Dialogue(id=name, turns=tuple(turns), ended=True, person=person, system="iard", score=float(accepted))


def _intents(said: dict[str, Json], key: str, where: str, place: Place) -> Sequence[str]:
    found = said.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(intent, str) and intent for intent in found):
        raise InputError(f"{where} has no {key!r}", place=place, allowed='["GiveFeedback", …]')
    return [intent for intent in found if intent != _OTHER_INTENT] or [_OTHER_INTENT]


FORMAT = "harvest-acts/1"
_TEXT_KEYS = ("person", "system", "topic", "draws")
_KEYS = ("id", "turns", "ended", *_TEXT_KEYS, "score")


def read_act_lines(path: str | PathLike[str]) -> tuple[Dialogue, ...]:
    """Read the dialogues in a file of acts. Raises InputError, naming the line, if the file has another form."""
    rows, torn = read_lines(Path(path))
    if torn:
        raise InputError(torn, advice="write the complete file again")
    if not rows or rows[0][1].get("format") != FORMAT:
        raise InputError(
            "this is not a file of acts", place=Place.of(path, 1), allowed=f'a first line {{"format": "{FORMAT}"}}'
        )
    dialogues = []
    seen: dict[str, Place] = {}
    written = Path(path).read_bytes().split(b"\n")
    for place, row in rows[1:]:
        # People write these files; a repeated key would hide its first value.
        *_, fault = value_at(written[place.line - 1].decode(), 0, place.path, place.line)
        if fault is not None:
            raise fault
        dialogue = _dialogue(row, place)
        if dialogue.id in seen:
            raise InputError(
                f"dialogue {dialogue.id!r} is repeated (first in line {seen[dialogue.id].line})", place=place
            )
        seen[dialogue.id] = place
        dialogues.append(dialogue)
    return tuple(dialogues)


def write_act_lines(path: str | PathLike[str], dialogues: Iterable[Dialogue], *, source: str = "") -> None:
    """Write the dialogues to a new file of acts. The first line names the sources. Raises FileExistsError."""
    data = [encode_line({"format": FORMAT, "source": source})]
    for dialogue in dialogues:
        row: dict[str, Json] = {
            "id": dialogue.id,
            "turns": [[turn.act, turn.answer] for turn in dialogue.turns],
            "ended": dialogue.ended,
        }
        named = {key: str(getattr(dialogue, key)) for key in _TEXT_KEYS}
        row.update({name: value for name, value in named.items() if value})
        if not math.isnan(dialogue.score):
            row["score"] = dialogue.score
        data.append(encode_line(row))
    with Path(path).open("xb") as file:
        file.writelines(data)


def _dialogue(row: Mapping[str, Json], place: Place) -> Dialogue:
    unknown = next((key for key in row if key not in _KEYS), None)
    if unknown is not None:
        raise InputError(f"the key {unknown!r} is unknown", place=place, allowed=", ".join(_KEYS))
    name, turns, ended, score = row.get("id"), row.get("turns"), row.get("ended"), row.get("score")
    if name is None:
        raise InputError("the key 'id' is missing", place=place, allowed="non-empty text", advice="add it")
    if not isinstance(name, str) or not name.strip():
        given = "empty" if isinstance(name, str) else "not text"
        advice = f'put it in quotation marks: "{name}"' if type(name) in (int, float) else "give the dialogue a name"
        raise InputError(f"'id' is {given}", place=place, allowed="non-empty text", advice=advice)
    if not isinstance(turns, list) or not turns:
        raise InputError(f"dialogue {name!r} has no turns", place=place, allowed='[["act", "answer"], …], at least one')
    if not isinstance(ended, bool):
        raise InputError(f"dialogue {name!r}: 'ended' is neither true nor false", place=place, allowed="true, false")
    if isinstance(score, bool) or not isinstance(score, (int, float, type(None))):
        raise InputError(f"dialogue {name!r}: 'score' is not a number", place=place, allowed="a number, or null")
    texts = {key: row.get(key, "") for key in _TEXT_KEYS}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise InputError(f"dialogue {name!r}: {key!r} is not text", place=place, advice="put it in quotation marks")
    acts = []
    for number, turn in enumerate(turns, 1):
        match turn:
            case [str(act), str() | None as answer] if act and answer != "":
                acts.append(ActTurn(act, answer))
            case _:
                what = f"dialogue {name!r}, turn {number} is not [act, answer]"
                raise InputError(what, place=place, allowed='["ask", "o"], or ["ask", null]')
    return Dialogue(
        id=name,
        turns=tuple(acts),
        ended=ended,
        score=math.nan if score is None else float(score),
        **{key: str(value) for key, value in texts.items()},
    )


_KINDS = (
    f'a run folder, a {FORMAT} file (.jsonl), the IARD file ({{"474": {{"dialogue_info": …}}, …}}), or search sessions '
    'as in Sim4IA ({"1": ["query", …], …})'
)


_RESERVED_ACTS = {
    "start": "the start of a dialogue",
    "stop": "leaving",
}  # as in `scoring.simulation.act_model`, above here


def read_dialogues(path: str | PathLike[str], *, level: Level = "top") -> Dialogues:
    """Read the dialogues at `path` in any supported form. `level` selects the intents that are read from the IARD file.
    Raises InputError if the form is unknown, if there is no dialogue, or if an act has a reserved name."""
    place, where = Place.of(path), Path(path)
    if where.is_dir():
        if not is_run(where):
            raise InputError("this is a folder, but not a run folder", place=place, allowed=_KINDS)
        run = read(where)
        # Without a protocol it is an import or a chat: a different person had each conversation.
        found = extract_dialogues(run.conversations, None if run.header.protocol is None else run.header.seed)
    elif fspath(path).endswith(".jsonl"):
        found = Dialogues(read_act_lines(path))
    else:
        value = read_json_value(path).value
        if is_iard(value):
            found = Dialogues(dialogues_in_iard(value, place, level=level))
        elif is_queries(value):
            found = Dialogues(dialogues_in_queries(value, place))
        else:
            raise InputError("this file does not contain dialogues", place=place, allowed=_KINDS)
    if not found.kept:
        left = "; ".join(f"{count}: {why}" for why, count in found.left_out)
        raise InputError("no dialogue has a user turn" + (f" ({left})" if left else ""), place=place)
    for one in found.kept:
        for number, turn in enumerate(one.turns, 1):
            if turn.act in _RESERVED_ACTS:
                raise InputError(
                    f"dialogue {one.id}, turn {number}: the act is called {turn.act!r}, which is reserved for "
                    f"{_RESERVED_ACTS[turn.act]}",
                    place=place,
                    advice="give it another name",
                )
    return found


_WORD = re.compile(r"\w+")


def query_act(query: str, before: str | None) -> str:
    """Classify a search query by comparing its words with `before`, the previous query; `query` if there is none."""
    if before is None:
        return "query"
    now, then = (frozenset(_WORD.findall(text.casefold())) for text in (query, before))
    if now == then:
        return "repeat"
    if not now & then:
        return "change"
    if now > then:
        return "specify"
    return "generalise" if now < then else "rephrase"


def is_queries(value: Json) -> bool:
    """Return True if the first member of a JSON value is a list, as in a file of search sessions."""
    return isinstance(value, dict) and isinstance(next(iter(value.values()), None), list)


def read_queries(path: str | PathLike[str]) -> tuple[Dialogue, ...]:
    """Read the search sessions in the file at `path`. Raises InputError if the file has another form."""
    place = Place.of(path)
    return dialogues_in_queries(read_json_value(path).value, place)


def dialogues_in_queries(value: Json, place: Place) -> tuple[Dialogue, ...]:
    """Return the search sessions in a parsed file. Raises InputError if the form is wrong or a session is empty."""
    if not isinstance(value, dict) or not is_queries(value):
        raise InputError("this file has no search sessions", place=place, allowed='{"1": ["query", "query", …], …}')
    return tuple(_session(str(name), row, place) for name, row in value.items())


def _session(name: str, queries: Json, place: Place) -> Dialogue:
    if not isinstance(queries, list) or not queries:
        raise InputError(f"session {name} has no query", place=place, allowed='["query", "query", …], at least one')
    words: list[str] = []
    for number, query in enumerate(queries, 1):
        if not isinstance(query, str):
            raise InputError(f"session {name}: query {number} is not text", place=place, allowed='"query"')
        if not _WORD.search(query):
            raise InputError(
                f"session {name}: query {number} contains no word, so it cannot be classified",
                place=place,
                allowed="text with a letter or digit",
                advice="leave the query out",
            )
        words.append(query)
    acts = [query_act(query, before) for query, before in zip(words, [None, *words])]
    return Dialogue(id=name, turns=tuple(ActTurn(act, said=said) for act, said in zip(acts, words)), ended=False)
