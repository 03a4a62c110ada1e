"""Rows for adjudication: the items on which people disagree, with everybody's votes."""

from collections.abc import Callable, Iterable, Iterator

from harvest.judging.sheets.annotation_sheet import COLUMNS
from harvest.judging.sheets.annotators import Key, judgment_key, newest_judgments
from harvest.judging.sheets.sheet_file import Row
from recordings.files.json_text import Json
from recordings.judged.judgments import UNSURE, Judgment, Layer, Target

ADJUDICATION_COLUMNS = (*COLUMNS[: COLUMNS.index("value")], "votes", *COLUMNS[COLUMNS.index("value") :])


def plain_vote(criterion: str, value: Json) -> str:
    """Return a judgment as sheets write it."""
    return "n/a" if value is None else f"{value:g}" if isinstance(value, (int, float)) else str(value)


def disputed_rows(
    rows: Iterable[Row], layers: Iterable[Layer], worded: Callable[[str, Json], str] = plain_vote
) -> Iterator[Row]:
    """Yield the rows on which people disagree, with a cell `votes` that has each person's last judgment and note.
    `layers` are the layers of the run, oldest first. Votes are sorted, so that their order reveals nothing.
    Adjudicators have no vote. `worded` returns a judgment by a criterion as text."""
    mine: dict[str, list[Layer]] = {}
    for layer in layers:
        if layer.kind == "human" and not layer.adjudicates:
            mine.setdefault(layer.author, []).append(layer)
    said: dict[Key, list[Judgment]] = {}
    for own in mine.values():
        for key, judgment in newest_judgments(own).items():
            if judgment.value != UNSURE:
                said.setdefault(key, []).append(judgment)
    for row in rows:
        judgments = said.get(_row_key(row), [])
        if len({str(one.value) for one in judgments}) > 1:
            votes = []
            for one in judgments:
                vote = worded(row["criterion"], one.value)
                votes.append(f"{vote} ({one.note})" if one.note else vote)
            yield {**row, "votes": "; ".join(sorted(votes))}


def _row_key(row: Row) -> Key:
    if "attempt" not in row:
        return judgment_key(Judgment({"system": row["system"], "topic": row["topic"]}, row["criterion"], None))
    start, end = int(row.get("start", -1)), int(row.get("end", -1))
    target = Target(row["id"], int(row["attempt"]), int(row.get("turn", 0)), row.get("speaker", "system"), start, end)
    return judgment_key(Judgment(target.about(), row["criterion"], None))
