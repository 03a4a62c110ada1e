"""Sheets on which people write what topics want: the nuggets of a good answer, in their own words.

    topic,request,nugget,importance
    T1,When is it open?,It opens at nine.,vital

Each row has one nugget of a topic, or an empty one to write on. The rows with a nugget are all nuggets of their topic,
in this order. The nuggets are stored as those of `nuggetizer` are (`recordings.judged.wanted`).
"""

from collections.abc import Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path

from harvest.judging.sheets import sheet_file
from recordings.judged.judgments import Judgment
from recordings.judged.wanted import IMPORTANCES, WANTED, WantedFile
from recordings.secrets.redaction import Redactor, count_marks
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.suggestions import suggestion

COLUMNS = ("topic", "request", "nugget", "importance")

_EMPTY_ROWS = 5  # below the nuggets of each topic
_MOST_LISTED = 20  # topics in a message


def is_wanted_sheet(path: str | PathLike[str]) -> bool:
    """Return whether the name is that of a sheet, .csv or .tsv. Other files are `nuggetizer`'s JSON lines."""
    return Path(path).suffix.lower() in (".csv", ".tsv")


def write_wanted_sheet(
    requests: Mapping[str, str], wanted: Mapping[str, Mapping[str, str]], path: str | PathLike[str]
) -> int:
    """Write the topics in `requests`, each with its known nuggets and empty rows. Returns the number of topics. Raises
    the errors of `sheet_file.write_rows`."""
    sheet_file.write_rows(_rows(requests, wanted), COLUMNS, path)
    return len(requests)


def _rows(requests: Mapping[str, str], wanted: Mapping[str, Mapping[str, str]]) -> Iterator[sheet_file.Row]:
    for topic, request in requests.items():
        known = wanted.get(topic, {}).items()
        for nugget, importance in (*known, *[("", "")] * _EMPTY_ROWS):
            yield {"topic": topic, "request": request, "nugget": nugget, "importance": importance}


def read_wanted_sheet(
    path: str | PathLike[str],
    requests: Mapping[str, str],
    elsewhere: Collection[str],
    known: Mapping[str, Mapping[str, str]],
) -> WantedFile:
    """Read a filled-in sheet for the topics of a run. `requests` has their requests, and `elsewhere` the other topics
    that the run knows of. `known` has the importance of each known nugget, by topic.

    Topics without a nugget on the sheet are left out, and so are those in `elsewhere`. Raises InputError, with file,
    line and column, for a nugget without a topic or an importance, an unknown topic, a request of another topic, a
    nugget that occurs twice in its topic, and a sheet without any nugget.
    """
    cleaner = Redactor()
    texts = {topic: {_fold(sheet_file.escape_text(text)): text for text in nuggets} for topic, nuggets in known.items()}
    found: dict[str, dict[str, str]] = {}
    places: dict[tuple[str, str], Place] = {}
    left_out: dict[str, None] = {}
    empty: dict[str, None] = {}
    for row in sheet_file.read_rows(path, COLUMNS, ("topic", "nugget", "importance")):
        topic, written = _topic(row, requests, elsewhere), sheet_file.restore_cell(row.get("nugget"))
        if not written:
            if row.get("importance"):
                raise row.error("nugget", "this row has an importance but no nugget", advice="write the nugget")
            empty.setdefault(topic)
            continue
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
