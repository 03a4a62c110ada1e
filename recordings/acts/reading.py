"""Read acts from a run folder, a file of acts, or one of the known data sets."""

import math
import re
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path

from recordings.acts.dialogue import ActTurn, Dialogue, Dialogues, dialogues_of
from recordings.acts.iard import Level, dialogues_in_iard, is_iard
from recordings.files.json_text import Json, line, read_lines
from recordings.log.run_folder import is_run, read
from topics.errors import InputError, Place
from topics.json_file import read_json_value, value_at

FORMAT = "harvest-acts/1"
_TEXTS = ("person", "system", "topic", "draws")
_KEYS = ("id", "turns", "ended", *_TEXTS, "score")


def read_act_lines(path: str | PathLike[str]) -> tuple[Dialogue, ...]:
    """Read the dialogues in the file. Raises InputError, naming the line, for any other form."""
    rows, torn = read_lines(Path(path))
    if torn:
        raise InputError(torn, advice="write the complete file again")
    if not rows or rows[0][1].get("format") != FORMAT:
        raise InputError(
            "not a file of acts", place=Place.of(path, 1), allowed=f'a first line {{"format": "{FORMAT}"}}'
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
            raise InputError(f"dialogue {dialogue.id!r} is already at line {seen[dialogue.id].line}", place=place)
        seen[dialogue.id] = place
        dialogues.append(dialogue)
    return tuple(dialogues)


def write_act_lines(path: str | PathLike[str], dialogues: Iterable[Dialogue], *, source: str = "") -> None:
    """Write the dialogues, with their sources in the heading. Raises FileExistsError if the file exists."""
    data = [line({"format": FORMAT, "source": source})]
    for dialogue in dialogues:
        row: dict[str, Json] = {
            "id": dialogue.id,
            "turns": [[turn.act, turn.answer] for turn in dialogue.turns],
            "ended": dialogue.ended,
        }
        named = {key: str(getattr(dialogue, key)) for key in _TEXTS}
        row.update({name: value for name, value in named.items() if value})
        if not math.isnan(dialogue.score):
            row["score"] = dialogue.score
        data.append(line(row))
    with Path(path).open("xb") as file:
        file.writelines(data)


def _dialogue(row: Mapping[str, Json], place: Place) -> Dialogue:
    unknown = next((key for key in row if key not in _KEYS), None)
    if unknown is not None:
        raise InputError(f"unknown key {unknown!r}", place=place, allowed=", ".join(_KEYS))
    name, turns, ended, score = row.get("id"), row.get("turns"), row.get("ended"), row.get("score")
    if name is None:
        raise InputError("missing key 'id'", place=place, allowed="text, not empty", advice="add it")
    if not isinstance(name, str) or not name.strip():
        given = "empty" if isinstance(name, str) else "not text"
        advice = f'put it in quotation marks: "{name}"' if type(name) in (int, float) else "give the dialogue a name"
        raise InputError(f"'id' is {given}", place=place, allowed="text, not empty", advice=advice)
    if not isinstance(turns, list) or not turns:
        raise InputError(f"dialogue {name!r} has no turns", place=place, allowed='[["act", "answer"], …], at least one')
    if not isinstance(ended, bool):
        raise InputError(f"dialogue {name!r}: 'ended' is not a truth value", place=place, allowed="true, false")
    if isinstance(score, bool) or not isinstance(score, (int, float, type(None))):
        raise InputError(
            f"dialogue {name!r}: 'score' is not a number", place=place, allowed="a number, or leave it out"
        )
    texts = {key: row.get(key, "") for key in _TEXTS}
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


_RESERVED = {"start": "the start of a dialogue", "stop": "leaving"}  # as in `scoring.simulation.act_model`, above here


def read_dialogues(path: str | PathLike[str], *, level: Level = "top") -> Dialogues:
    """Read the dialogues at `path`, whatever its kind. level: of the intents, for IARD. Raises InputError if its kind
    is unknown, if it has no dialogue, or if an act has a reserved name."""
    place, where = Place.of(path), Path(path)
    if where.is_dir():
        if not is_run(where):
            raise InputError("this is a folder, but not a run folder", place=place, allowed=_KINDS)
        run = read(where)
        # Without a protocol it is an import or a chat: a different person had each conversation.
        found = dialogues_of(run.conversations, None if run.header.protocol is None else run.header.seed)
    elif fspath(path).endswith(".jsonl"):
        found = Dialogues(read_act_lines(path))
    else:
        value = read_json_value(path).value
        if is_iard(value):
            found = Dialogues(dialogues_in_iard(value, place, level=level))
        elif is_queries(value):
            found = Dialogues(dialogues_in_queries(value, place))
        else:
            raise InputError("not a file that contains dialogues", place=place, allowed=_KINDS)
    if not found.kept:
        left = "; ".join(f"{count}: {why}" for why, count in found.left_out)
        raise InputError("no dialogue has a user turn" + (f" ({left})" if left else ""), place=place)
    for one in found.kept:
        for number, turn in enumerate(one.turns, 1):
            if turn.act in _RESERVED:
                raise InputError(
                    f"dialogue {one.id}, turn {number}: the act is called {turn.act!r}, which is reserved for "
                    f"{_RESERVED[turn.act]}",
                    place=place,
                    advice="give it another name",
                )
    return found


_WORD = re.compile(r"\w+")


def query_act(query: str, before: str | None) -> str:
    """Classify a query by its change from the one before it; None for the first."""
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
    """True if the first session of a JSON value has the form of the file."""
    return isinstance(value, dict) and isinstance(next(iter(value.values()), None), list)


def read_queries(path: str | PathLike[str]) -> tuple[Dialogue, ...]:
    """Read the sessions in the file at `path`. Raises InputError for another kind of file."""
    place = Place.of(path)
    return dialogues_in_queries(read_json_value(path).value, place)


def dialogues_in_queries(value: Json, place: Place) -> tuple[Dialogue, ...]:
    """Return the sessions in the file's JSON value. Raises InputError for another kind of value or an empty session."""
    if not isinstance(value, dict) or not is_queries(value):
        raise InputError("not a file of search sessions", place=place, allowed='{"1": ["query", "query", …], …}')
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
                f"session {name}: query {number} has no word, so its kind is unknown",
                place=place,
                allowed="text with a letter or digit",
                advice="leave the query out",
            )
        words.append(query)
    acts = [query_act(query, before) for query, before in zip(words, [None, *words])]
    return Dialogue(id=name, turns=tuple(ActTurn(act, said=said) for act, said in zip(acts, words)), ended=False)
