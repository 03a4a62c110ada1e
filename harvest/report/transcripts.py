"""The conversations behind the figures: a small index of all, and their texts in chunks that are read on demand.

Systems may write texts of any content and length. A report therefore limits the length of every text and shows how
much was cut. Characters that could control a page or mislead its reader are shown as symbols or by their code.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harvest.report.judged import judged_items
from harvest.studies.pairs.conversation_rows import offer_words, outcome_words, part_lines
from harvest.studies.scores.assessed import Assessed
from harvest.studies.scores.group_shares import achieved_lines
from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.witnessed import judge_systems, verdict_lines
from harvest.tables.figures import printed_rows
from harvest.terminal import printable
from protocols.route_words import decision_words, piece_words, target_words
from recordings.conversations.conversation import Conversation, Turn
from scoring.measures.relevance import POSITION_WEIGHT
from scoring.table import ScoreTable, shown_value

# The most characters of one text in a report.
MOST_TEXT = 20_000

_MOST_LINKS, _MOST_EVIDENCE, _MOST_TURNS = 50, 20, 500
_QUOTE = 200  # characters of a name or a line beside a turn
_LINE, _MOST_LINES = 600, 60
# Characters of JSON in a chunk: read in some milliseconds, and still few files for 10,000 conversations.
_CHUNK = 200_000

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PICTURE = re.compile(r"evidence/[0-9a-f]{2}/[0-9a-f]{40}\.(?:png|jpg|webp)")


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The conversations of a report. `index` has columns over all attempts, in the order of the runs. Each of the
    `chunks` is the JSON text of a list of conversations in that order. `places` maps system, topic and trial to the
    position in the index of the attempt that counts."""

    index: Mapping[str, Any]
    chunks: tuple[str, ...]
    places: Mapping[tuple[str, str, int], int]


def limit_text(text: str, most: int = MOST_TEXT) -> tuple[str, int]:
    """Return the first `most` characters of a text, made safe to show, and the number of characters left out."""
    shown = text[:most]
    if not shown.isprintable() and _CONTROL.search(shown):  # the first test is quicker, and false for all of them
        shown = _CONTROL.sub(_show_character, shown)
    return shown, max(0, len(text) - most)


def _show_character(found: re.Match[str]) -> str:
    drawn = printable(found[0], line=True)
    return drawn if drawn != found[0] else f"<U+{ord(found[0]):04X}>"


def transcripts(
    material: Material,
    scored: ScoreTable,
    folders: Mapping[str, tuple[Path, str]],
    beside: Path,
    assessed: Assessed | None = None,
) -> Transcripts:
    """Return the transcripts of all attempts. `scored` has the figures of single conversations and entities.
    `folders` maps each system to the run that recorded the system and to the system's name in that run. Addresses of
    evidence are relative to `beside`, the folder of the report. `assessed` has the judgments, if there are any."""
    scores, nuggets = _conversation_scores(scored, assessed), _entity_lines(scored, material)
    groups = _group_lines(scored, material)
    valid = {(one.key, one.attempt) for one in material.finished}
    systems = {name: place for place, name in enumerate(material.systems)}
    topics = {topic.id: place for place, topic in enumerate(material.topics.topics)}
    words: dict[str, int] = {}
    columns: dict[str, list[Any]] = {name: [] for name in ("system", "topic", "trial", "attempt", "labels", "end")}
    counted: list[int] = []
    places: dict[tuple[str, str, int], int] = {}
    chunks: list[str] = []
    starts = [0]
    held: list[str] = []
    size, pictures = 0, False
    verdicts = {
        place: verdict
        for _, found in judge_systems(material.finished, material.folders)
        for place, verdict in found.verdicts.items()
        if verdict.word == "differs"
    }
    for place, one in enumerate(material.conversations):
        counts = (one.key, one.attempt) in valid
        key = (one.key.system, one.key.topic, one.key.trial)
        if counts:
            counted.append(place)
            places[key] = place
        columns["system"].append(systems[one.key.system])
        columns["topic"].append(topics.setdefault(one.key.topic, len(topics)))
        columns["trial"].append(one.key.trial)
        columns["attempt"].append(one.attempt)
        if counts:
            columns["labels"].append("".join(material.labels[one.key])[:_MOST_TURNS])
        else:
            columns["labels"].append("!" if one.outcome is not None and not one.outcome.valid else "")
        columns["end"].append(words.setdefault(outcome_words(one), len(words)))
        folder, _ = folders[one.key.system]
        body = conversation_body(one, os.path.relpath(folder, beside), scores.get(key, {}) if counts else {})
        for turn in body.get("turns", ()):
            if (one.trial_id, one.attempt, turn["n"]) in verdicts:
                lines = verdict_lines(verdicts[one.trial_id, one.attempt, turn["n"]])
                turn["parts"] = [*turn.get("parts", ()), *map(_bounded_line, lines)]
        if counts:
            _add_lines(body, "nuggets", nuggets.get(key, {}))
            _add_lines(body, "groups", groups.get(key, {}))
            _add_lines(body, "judged", judged_items(assessed, key, one) if assessed is not None else {})
        pictures = pictures or any(link for turn in body.get("turns", ()) for *_, link in turn.get("files", ()))
        held.append(json.dumps(body, ensure_ascii=False, separators=(",", ":")))
        size += len(held[-1])
        if size >= _CHUNK:
            chunks.append(f"[{','.join(held)}]")
            starts.append(place + 1)
            held, size = [], 0
    if held:
        chunks.append(f"[{','.join(held)}]")
    else:
        starts.pop()
    index = {
        "systems": [limit_text(name, _QUOTE)[0] for name in systems],
        "topics": [limit_text(name, _QUOTE)[0] for name in topics],
        "ends": [limit_text(name, _QUOTE)[0] for name in words],
        **columns,
        "counted": counted,
        "pictures": pictures,
        "chunks": starts,
    }
    return Transcripts(index, tuple(chunks), places)


def _conversation_scores(scored: ScoreTable, assessed: Assessed | None) -> dict[tuple[str, str, int], dict[str, str]]:
    shown = {row.measure for row in printed_rows(scored.joint, every=False)}
    judged = (row for row in scored.single("conversation") if row.scorers) if assessed is not None else ()
    labels = {(row.measure, row.system, row.topic, row.trial): row.label for row in judged}
    found: dict[tuple[str, str, int], dict[str, str]] = {}
    for own in scored.each:
        keys = [(key.system, key.topic, key.trial) for key in own.keys]
        for column in (one for one in own.columns if one.measure in shown):
            measure = column.measure
            for at, value in zip(column.at.tolist(), column.value.tolist(), strict=True):
                if value == value:
                    label = labels.get((measure, *keys[at]), measure)
                    found.setdefault(keys[at], {})[label] = shown_value(measure, value)
    return found


def _entity_lines(scored: ScoreTable, material: Material) -> dict[tuple[str, str, int], dict[int, list[str]]]:
    found: dict[tuple[str, str, int], dict[int, list[str]]] = {}
    titles = {(entry.topic, entry.entity): entry.title for entry in material.gold or ()}
    for own in scored.each:
        for at, key in enumerate(own.keys):
            by_turn: dict[int, list[str]] = {}
            for figure in own.nuggets(at):
                nugget = figure.nugget
                if nugget is None or figure.measure != POSITION_WEIGHT.name:
                    continue
                title = titles.get((key.topic, nugget.entity), "")
                known = (
                    "not in the gold table" if nugget.grade is None else f"grade {nugget.grade}, gain {nugget.gain:g}"
                )
                words = f"{title} ({nugget.entity})" if title else nugget.entity
                words += f": {known}, weight {figure.value:.4f} at word {nugget.position}"
                words += f"; {figure.note}" if figure.note and figure.note != "unjudged" else ""
                by_turn.setdefault(nugget.turn, []).append(words)
            if by_turn:
                found[key.system, key.topic, key.trial] = by_turn
    return found


def _group_lines(scored: ScoreTable, material: Material) -> dict[tuple[str, str, int], dict[int, list[str]]]:
    """Return what each turn achieves in each attribute set next to the target, by conversation and turn."""
    sets = {topic.id: topic.type.attributes for topic in material.topics.topics}
    found: dict[tuple[str, str, int], dict[int, list[str]]] = {}
    for own in scored.each:
        for at, key in enumerate(own.keys):
            named = [one.nugget for one in own.nuggets(at) if one.nugget and one.measure == POSITION_WEIGHT.name]
            attributes = [material.topics.attributes[name] for name in sets[key.topic]]
            if by_turn := achieved_lines(named, attributes, scored.settings):
                found[key.system, key.topic, key.trial] = by_turn
    return found


def _add_lines(body: dict[str, Any], name: str, by_turn: Mapping[int, Sequence[str]]) -> None:
    lines = {turn: [limit_text(line, _LINE)[0] for line in each[:_MOST_LINES]] for turn, each in by_turn.items()}
    more = {turn: len(each) - _MOST_LINES for turn, each in by_turn.items() if len(each) > _MOST_LINES}
    for place in (body, *body.get("turns", ())):
        turn = place.get("n", 0)
        if turn in lines:
            place[name] = lines[turn]
        if turn in more:
            place[f"{name}More"] = more[turn]


def conversation_body(one: Conversation, folder: str, scores: Mapping[str, str]) -> dict[str, Any]:
    """Return a conversation as a page shows it. `folder` is the address of its run relative to the page, and `scores`
    has its figures."""
    outcome = one.outcome
    found: dict[str, Any] = {
        "turns": [_turn_body(turn, folder) for turn in one.turns[:_MOST_TURNS]],
        "left": max(0, len(one.turns) - _MOST_TURNS),
        "detail": limit_text(outcome.detail, 2000)[0] if outcome else "",
        "started": one.started_at,
        "ended": one.ended_at,
        "session": f"{one.session}, place {one.place}" if one.place > 1 else "",
        "user": one.user if one.user != "scripted" else "",
        "scores": dict(scores),
    }
    return {name: value for name, value in found.items() if value}


def _turn_body(turn: Turn, folder: str) -> dict[str, Any]:
    said, cut = limit_text(turn.said)
    by = f"{turn.state}, {turn.user}: {turn.act}" if turn.user else turn.state
    found: dict[str, Any] = {
        "n": turn.number,
        "state": limit_text("; ".join(filter(None, (turn.session and "in a new session", by, turn.worded))), _QUOTE)[0],
        "said": said,
        "saidCut": cut,
    }
    reply = turn.reply
    if reply is not None:
        text, cut = limit_text(reply.answer.text)
        links = reply.answer.links
        first = [f"said before this turn: {reply.greeting}"] if reply.greeting else []
        first += [f"offered before this turn: {offer_words(one)}" for one in reply.greeting_offers]
        parts = [*first, *part_lines(reply.answer), *(f"note: {note}" for note in reply.notes)]
        found |= {
            "label": turn.label or "?",
            "text": text,
            "cut": cut,
            "seconds": reply.seconds,
            "finish": limit_text(reply.finish, _QUOTE)[0],
            "model": limit_text(reply.model, _QUOTE)[0],
            "sentAs": limit_text(reply.sent_as)[0],
            "links": [
                [limit_text(link.text, _QUOTE)[0], limit_text(link.href, 500)[0]] for link in links[:_MOST_LINKS]
            ],
            "moreLinks": max(0, len(links) - _MOST_LINKS) + reply.answer.links_left_out,
            "parts": list(map(_bounded_line, parts[:_MOST_LINKS])),
            "moreParts": max(0, len(parts) - _MOST_LINKS),
            # Never link to a page that a system wrote: opened from a disk, it would look like ours.
            "files": [
                [
                    limit_text(name, _QUOTE)[0],
                    limit_text(address, _QUOTE)[0],
                    quote(f"{folder}/{address}") if _PICTURE.fullmatch(address) else "",
                ]
                for name, address in reply.evidence.items()
            ],
        }
    if turn.route is not None:
        route = turn.route
        found["route"] = limit_text(f"{decision_words(route)}, then {target_words(route)}", _QUOTE)[0]
        found["why"] = [limit_text(piece_words(piece), _QUOTE)[0] for piece in route.evidence[:_MOST_EVIDENCE]]
        found["moreWhy"] = max(0, len(route.evidence) - _MOST_EVIDENCE)
    kept = ("n", "said", "text", "seconds")
    return {name: value for name, value in found.items() if value or (name in kept and value is not None)}


def _bounded_line(line: str) -> str:
    shown, cut = limit_text(line, _LINE)
    return f"{shown} … ({cut:,} more characters)" if cut else shown
