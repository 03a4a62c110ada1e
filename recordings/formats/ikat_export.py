"""Export of answers as a run of TREC iKAT, as its 2025 guidelines ask: JSONL with one line for each turn.

    {"metadata": {"team_id": "t", "run_id": "B1", "run_type": "automatic"}, "turn_id": "1-1_2",
     "references": {"clueweb22-en0000-00-00000:0": 1.0},
     "responses": [{"text": "Yes.", "citations": {"clueweb22-en0000-00-00000:0": 1.0}, "ptkb_provenance": []}]}

A run has one answer for each turn, so each system and trial is a run: `B1`, or `B1-2` for the second trial. Sources are
named by their address or title, and their score is the reciprocal of their rank, because a system does not give scores.
`problems` names the lines that the organisers' checks would refuse or change.

Source: irlabamsterdam/iKAT, 2025/scripts/validate_trec_ikat25.py.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from os import PathLike

from recordings.conversations.conversation import Conversation, Turn
from recordings.files.json_text import Json, encode_line
from recordings.log.exports import write_export
from topics.counting import pluralize

MOST_WORDS = 250
_MOST_REFERENCES = 1000
_PASSAGE = re.compile(r"clueweb22-en\d{4}-\d{2}-\d{5}:\d+")


def write_ikat(conversations: Iterable[Conversation], path: str | PathLike[str], team: str) -> tuple[str, ...]:
    """Write the answers to `path`, completely or not at all, and return a sentence on each thing that the track's
    checks would refuse or change. Raises the errors of `write_export`."""
    rows = [row for one in conversations for row in _rows(one, team)]
    write_export(path, b"".join(map(encode_line, rows)))
    return tuple(problems(rows))


def problems(rows: Iterable[Json]) -> Iterator[str]:
    """Yield a sentence on each thing in the lines of runs that the track's checks refuse, change or warn about."""
    seen: set[tuple[str, str]] = set()
    long: list[str] = []
    crowded: list[str] = []
    twice: list[str] = []
    others: dict[str, None] = {}
    for row in rows:
        assert isinstance(row, dict)
        run, turn = row["metadata"]["run_id"], row["turn_id"]
        words = sum(len(unicodedata.normalize("NFKC", one["text"]).split()) for one in row["responses"])
        where = f"{turn} of {run}"
        if words > MOST_WORDS:
            long.append(f"{where} has {words}")
        if len(row["references"]) > _MOST_REFERENCES:
            crowded.append(f"{where} has {len(row['references'])}")
        if (run, turn) in seen:
            twice.append(where)
        seen.add((run, turn))
        others |= {name: None for name in row["references"] if not _PASSAGE.fullmatch(name)}
    if long:
        count = pluralize(len(long), "answer")
        yield (
            f"{count} of more than {MOST_WORDS} words ({long[0]}): the track drops whole responses from the end until "
            "a turn has no more"
        )
    if crowded:
        count = pluralize(len(crowded), "turn")
        yield f"{count} with more than {_MOST_REFERENCES} references ({crowded[0]}): the track drops the others"
    if twice:
        yield f"{pluralize(len(twice), 'turn')} more than once in a run, which the track does not allow: {twice[0]}"
    if others:
        count = pluralize(len(others), "reference")
        yield f"{count} that no passage of ClueWeb22 has as its name (such as {next(iter(others))!r})"


def _rows(one: Conversation, team: str) -> Iterator[Json]:
    run = one.key.system if one.key.trial == 1 else f"{one.key.system}-{one.key.trial}"
    for turn in one.turns:
        if turn.reply is None:
            continue
        names = dict.fromkeys(filter(None, (source.href or source.title for source in turn.reply.answer.sources)))
        scores = {name: round(1 / rank, 6) for rank, name in enumerate(names, 1)}
        yield {
            "metadata": {"team_id": team, "run_id": run, "run_type": "automatic"},
            "turn_id": _turn_id(one.key.topic, turn),
            "references": scores,
            "responses": [{"text": turn.reply.answer.text, "citations": scores, "ptkb_provenance": []}],
        }


def _turn_id(topic: str, turn: Turn) -> str:
    """Return the track's name of a turn: of a state that an import of the track's files made, or else by its number."""
    if turn.state.startswith(f"{topic}_"):
        return turn.state
    return f"{topic}_{turn.state if turn.state.isdecimal() else turn.number}"
