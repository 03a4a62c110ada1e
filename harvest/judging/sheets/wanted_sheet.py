"""Sheets on which people write the nuggets of a good answer to each topic, and mark which answers contain them.

    topic,request,nugget,importance
    T1,When is it open?,It opens at nine.,vital
        Each row has one nugget of a topic, or an empty one to write on. The rows with a nugget are all nuggets of
        their topic, in this order.

    topic,request,nugget,answer,assignment,attempt,id
    T1,When is it open?,It opens at nine.,At nine.,support,1,6c1f…
        Each row asks of one conversation whether it supports one nugget. No column names the system.

Both are stored in the format of `nuggetizer` (`recordings.judged.wanted`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

from harvest.judging.sheets import sheet_file
from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Judgment
from recordings.judged.wanted import ASSIGNMENTS, HELD, IMPORTANCES, WANTED, WantedFile
from recordings.secrets.redaction import Redactor, count_marks
from topics.counting import pluralize
from topics.errors import InputError, Place, suggestion
from topics.identity import content_hash
from topics.unseen_characters import has_visible_text

COLUMNS = ("topic", "request", "nugget", "importance")
ASSIGNED_COLUMNS = ("topic", "request", "nugget", "answer", "assignment", "attempt", "id")

_EMPTY_ROWS = 5  # below the nuggets of each topic
_MOST_LISTED = 20  # topics in a message


def is_wanted_sheet(path: str | PathLike[str]) -> bool:
    """Return True if the file name is that of a sheet (.csv or .tsv). Other files are `nuggetizer`'s JSON lines."""
    return Path(path).suffix.lower() in (".csv", ".tsv")


def write_wanted_sheet(
    requests: Mapping[str, str], nuggets: Mapping[str, Mapping[str, str]], path: str | PathLike[str]
) -> int:
    """Write the topics in `requests`, each with its known nuggets and empty rows. Returns the number of topics. Raises
    the errors of `sheet_file.write_rows`."""
    sheet_file.write_rows(_rows(requests, nuggets), COLUMNS, path)
    return len(requests)


def _rows(requests: Mapping[str, str], wanted: Mapping[str, Mapping[str, str]]) -> Iterator[sheet_file.Row]:
    for topic, request in requests.items():
        known = wanted.get(topic, {}).items()
        for nugget, importance in (*known, *[("", "")] * _EMPTY_ROWS):
            yield {"topic": topic, "request": request, "nugget": nugget, "importance": importance}


def write_assigned_sheet(
    requests: Mapping[str, str],
    nuggets: Mapping[str, Mapping[str, str]],
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
) -> int:
    """Write a row for each nugget of each conversation on a topic with nuggets, ordered by topic, and within a topic so
    that the order does not reveal the systems. Returns the number of conversations. Raises the errors of
    `sheet_file.write_rows`."""
    place = {topic: i for i, topic in enumerate(requests)}
    asked = [one for one in conversations if one.key.topic in nuggets]
    asked.sort(key=lambda one: (place[one.key.topic], content_hash("harvest-order", one.trial_id)))
    rows = (
        {
            "topic": one.key.topic,
            "request": requests[one.key.topic],
            "nugget": nugget,
            "answer": _answer(one),
            "attempt": str(one.attempt),
            "id": one.trial_id,
        }
        for one in asked
        for nugget in nuggets[one.key.topic]
    )
    sheet_file.write_rows(rows, ASSIGNED_COLUMNS, path)
    return len(asked)


def _answer(conversation: Conversation) -> str:
    return "\n\n".join(turn.reply.answer.text for turn in conversation.turns if turn.reply is not None)


def read_nugget_sheet(
    path: str | PathLike[str],
    requests: Mapping[str, str],
    elsewhere: Collection[str],
    conversations: Iterable[Conversation],
    known: Mapping[str, Mapping[str, str]],
) -> WantedFile:
    """Read a filled-in sheet of either form. A sheet with a column `assignment` is read by `read_assigned_sheet`, and
    any other by `read_wanted_sheet`, which raise InputError for its faults."""
    rows = tuple(sheet_file.read_rows(path, (*COLUMNS, *ASSIGNED_COLUMNS), ("topic", "nugget")))
    if any("assignment" in row.cells for row in rows):
        return read_assigned_sheet(path, rows, conversations, known)
    return read_wanted_sheet(path, rows, requests, elsewhere, known)


def read_assigned_sheet(
    path: str | PathLike[str],
    rows: Sequence[sheet_file.SheetRow],
    conversations: Iterable[Conversation],
    known: Mapping[str, Mapping[str, str]],
) -> WantedFile:
    """Return which nuggets the conversations support according to the rows. Conversations with unassigned nuggets are
    left out.

    Raises InputError, with file, line and column, for an unknown conversation, topic, nugget or assignment, another
    answer than the recorded one, a nugget that was assigned twice, and an empty sheet.
    """
    of = {(one.trial_id, one.attempt): one for one in conversations}
    answers = {key: sheet_file.escape_text(_answer(one)) for key, one in of.items()}
    texts = _known_texts(known)
    found: dict[tuple[str, int], dict[str, str]] = {}
    places: dict[tuple[str, int, str], Place] = {}
    for row in rows:
        given = row.get("assignment").casefold().replace(" ", "_")
        if not given:
            continue
        row.require_column("id")
        key = (sheet_file.restore_cell(row.get("id")), row.number("attempt"))
        topic = sheet_file.restore_cell(row.get("topic"))
        if key not in of or of[key].key.topic != topic:
            raise row.error(
                "id",
                f"this run has no valid conversation {key[0][:60]!r} on the topic {topic[:60]!r}",
                advice="import the sheet into the run from which it was exported, and change only 'assignment'",
            )
        text = texts.get(topic, {}).get(_fold(sheet_file.restore_cell(row.get("nugget"))))
        if text is None:
            raise row.error("nugget", f"this nugget does not belong to {topic!r}", advice="export the sheet again")
        if row.get("answer") and not sheet_file.same_words(row.get("answer"), answers[key]):
            raise row.error("answer", "this answer differs from the recording", advice="fill in only 'assignment'")
        if given not in ASSIGNMENTS:
            what = f"assignment: {row.get('assignment')[:40]!r} is not known"
            raise row.error("assignment", what, allowed=", ".join(ASSIGNMENTS))
        first = places.setdefault((*key, text), row.place)
        if first is not row.place:
            raise row.error(
                "nugget", f"this nugget was already assigned in line {first.line}", advice="keep one of them"
            )
        found.setdefault(key, {})[text] = given
    if not found:
        raise InputError(
            "no row of this sheet has an assignment", place=Place.of(path), advice="fill in the column 'assignment'"
        )
    whole = {key: said for key, said in found.items() if said.keys() == known[of[key].key.topic].keys()}
    partial = len(found) - len(whole)
    held = tuple(
        Judgment({"trial": key[0], "attempt": key[1], WANTED: text}, HELD, said[text])
        for key, said in whole.items()
        for text in known[of[key].key.topic]
    )
    left_out = (f"{pluralize(partial, 'conversation')} of which a nugget is not assigned",) if partial else ()
    return WantedFile((), held, 0, len(whole), left_out)


def read_wanted_sheet(
    path: str | PathLike[str],
    rows: Iterable[sheet_file.SheetRow],
    requests: Mapping[str, str],
    elsewhere: Collection[str],
    known: Mapping[str, Mapping[str, str]],
) -> WantedFile:
    """Return the nuggets in the rows that belong to the run's topics. `requests` has the topics' requests, and
    `elsewhere` the other topics that the run knows of. `known` has the importance of each known nugget, by topic.

    Topics without a nugget on the sheet are left out, and so are the topics in `elsewhere`. Raises InputError, with
    file, line and column, for a nugget without a topic or an importance, an unknown topic, a request of another topic,
    a nugget that occurs twice in its topic, and a sheet without any nugget.
    """
    cleaner = Redactor()
    texts = _known_texts(known)
    found: dict[str, dict[str, str]] = {}
    places: dict[tuple[str, str], Place] = {}
    left_out: dict[str, None] = {}
    empty: dict[str, None] = {}
    for row in rows:
        topic, written = _topic(row, requests, elsewhere), sheet_file.restore_cell(row.get("nugget"))
        if not written:
            if row.get("importance"):
                raise row.error("nugget", "this row has an importance but no nugget", advice="write the nugget")
            empty.setdefault(topic)
            continue
        if not has_visible_text(written):
            raise row.error("nugget", "this nugget has no visible characters", advice="write it in words")
        if topic not in requests:
            left_out.setdefault(topic)
            continue
        text = texts.get(topic, {}).get(_fold(written)) or cleaner.text(written)
        first = places.setdefault((topic, _fold(text)), row.place)
        if first is not row.place:
            secret = "; they differ only in what looks like a secret, which is not kept" if count_marks(text) else ""
            raise row.error(
                "nugget", f"{topic!r} has this nugget in line {first.line} already{secret}", advice="keep one of them"
            )
        found.setdefault(topic, {})[text] = _importance(row)
    if not found:
        raise InputError(
            "no row of this sheet has a nugget of a topic with a conversation in this run",
            place=Place.of(path),
            advice="write nuggets in the column 'nugget', each with its importance",
        )
    kept = [topic for topic in empty if topic in known and topic not in found]
    open_ = [topic for topic in empty if topic in requests and topic not in known and topic not in found]
    told = (
        (left_out, "without a conversation here"),
        (open_, "without a nugget on the sheet"),
        (kept, "without a nugget on the sheet, which keep the nuggets that they have"),
    )
    return WantedFile(
        tuple(
            Judgment({"topic": topic, WANTED: text}, WANTED, importance)
            for topic, nuggets in found.items()
            if known.get(topic) != nuggets
            for text, importance in nuggets.items()
        ),
        (),
        len(found),
        0,
        tuple(f"{pluralize(len(topics), 'topic')} {why}" for topics, why in told if topics),
    )


def _known_texts(known: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the nuggets by topic and then by what a cell makes of them."""
    return {topic: {_fold(sheet_file.escape_text(text)): text for text in nuggets} for topic, nuggets in known.items()}


def _fold(text: str) -> str:
    return " ".join(text.split())


def _topic(row: sheet_file.SheetRow, requests: Mapping[str, str], elsewhere: Collection[str]) -> str:
    """Return the topic of a row, or "" for a row without one and without a nugget."""
    topic = sheet_file.restore_cell(row.get("topic"))
    if not topic:
        if not row.get("nugget"):
            return ""
        raise row.error("topic", "this nugget has no topic", advice="write the topic in each of its rows")
    if topic not in requests and topic not in elsewhere:
        names = sorted(requests)
        rest = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
        raise row.error(
            "topic",
            f"this run has no topic {topic[:60]!r}{suggestion(topic, names)}",
            allowed=f"{', '.join(names[:_MOST_LISTED])}{rest}",
        )
    if (
        topic in requests
        and row.get("request")
        and not sheet_file.same_words(row.get("request"), sheet_file.escape_text(requests[topic]))
    ):
        raise row.error(
            "request",
            f"this is not the request of {topic!r}",
            advice="sort whole rows, and fill in only 'nugget' and 'importance'",
        )
    return topic


def _importance(row: sheet_file.SheetRow) -> str:
    given = row.get("importance")
    if given.casefold() not in IMPORTANCES:
        what = f"importance: {given[:40]!r} is not known" if given else "this nugget has no importance"
        raise row.error(
            "importance",
            what,
            allowed=" or ".join(IMPORTANCES),
            advice="vital: an answer without it is not good; okay: it makes an answer better",
        )
    return given.casefold()
