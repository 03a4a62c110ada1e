"""Rows for adjudication: the things on which people disagree, with everybody's votes."""

from collections.abc import Iterable, Iterator

from harvest.judging.sheets.annotation_sheet import COLUMNS
from harvest.judging.sheets.annotators import Key, judgment_key, newest_judgments
from harvest.judging.sheets.sheet_file import Row
from recordings.judged.judgments import UNSURE, Judgment, Layer, Target

ADJUDICATION_COLUMNS = (*COLUMNS[: COLUMNS.index("value")], "votes", *COLUMNS[COLUMNS.index("value") :])


def disputed_rows(rows: Iterable[Row], layers: Iterable[Layer]) -> Iterator[Row]:
    """Yield the rows on which people disagree, with a cell `votes` that has each person's last judgment and note.
    `layers` are the layers of the run, oldest first. Votes are sorted by value, so that their order reveals
    nothing. Adjudicators have no vote."""
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
                value = one.value
                vote = "n/a" if value is None else value if isinstance(value, str) else f"{value:g}"
                votes.append(f"{vote} ({one.note})" if one.note else vote)
            yield {**row, "votes": "; ".join(sorted(votes))}


def _row_key(row: Row) -> Key:
    if "attempt" not in row:
        return judgment_key(Judgment({"system": row["system"], "topic": row["topic"]}, row["criterion"], None))
    start, end = int(row.get("start", -1)), int(row.get("end", -1))
    target = Target(row["id"], int(row["attempt"]), int(row.get("turn", 0)), row.get("speaker", "system"), start, end)
    return judgment_key(Judgment(target.about(), row["criterion"], None))
