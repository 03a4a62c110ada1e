"""Search sessions as acts: how each query differs from the one before it.

    {"1": ["3D printer", "history of additive manufacturing", …], …}

the form of the sessions of Sim4IA-Bench, task B (TH Köln, 2025). By words, in any order, case and punctuation apart:

    query        the first of a session
    repeat       the same words
    specify      all the words of the query before, and more
    generalise   some of them, and no others
    rephrase     some of them, and others
    change       none of them

These are rules about words: a synonym is a change. Nothing is known of what a search engine answered. The ends are
censored: the sessions were made for predicting the next query, and do not say whether one followed.
"""

import re
from os import PathLike

from recordings.acts.dialogue import ActTurn, Dialogue
from recordings.files.json_text import Json
from topics.errors import InputError, Place
from topics.json_file import read_json_value

_WORD = re.compile(r"\w+")


def query_act(query: str, before: str | None) -> str:
    """What a query does after the one before it (None: it is the first)."""
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
    """Whether a JSON value has the form of the file, as far as its first session tells."""
    return isinstance(value, dict) and isinstance(next(iter(value.values()), None), list)


def read_queries(path: str | PathLike[str]) -> tuple[Dialogue, ...]:
    """The sessions in the file at `path`. Raises InputError where it is none."""
    place = Place.of(path)
    return dialogues_in_queries(read_json_value(path).value, place)


def dialogues_in_queries(value: Json, place: Place) -> tuple[Dialogue, ...]:
    """The sessions in the file's JSON value. Raises InputError where it is none, or where a session is empty."""
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
        words.append(query)
    acts = [query_act(query, before) for query, before in zip(words, [None, *words])]
    return Dialogue(id=name, turns=tuple(ActTurn(act, said=said) for act, said in zip(acts, words)), ended=False)
