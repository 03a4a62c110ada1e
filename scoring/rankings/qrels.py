"""Relevance assessments in NTCIREVAL's qrels format: `topic document L<n>`, a line each; L0 is judged nonrelevant."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType

from scoring.rankings.columns import ColumnFile, quote_cell
from topics.errors import InputError

_GRADE = re.compile(r"L([0-9]{1,3})")
_KIND = "qrels (topic document L<n>)"


@dataclass(frozen=True, slots=True)
class Qrels:
    """The grade (0, 1, 2, …) of each judged document, by topic, in the order of the file."""

    path: str
    grades: Mapping[str, Mapping[str, int]]

    def check_gains(self, gains: Mapping[int, float]) -> None:
        """Raise InputError, with its place, for a grade that has no gain."""
        known = {0, *gains}
        if all(grade in known for judged in self.grades.values() for grade in judged.values()):
            return
        file = ColumnFile.read(self.path, _KIND)
        for line, cells in file.rows():
            grade = int(cells[2][1:])
            if grade not in known:
                raise file.fault(
                    line,
                    2,
                    f"grade L{grade} has no gain",
                    allowed=", ".join(f"L{known_grade}" for known_grade in sorted(known)),
                    advice="give every grade a gain, for example --gains "
                    + ",".join(f"L{one}={2**one - 1}" for one in range(1, min(grade, 9) + 1)),
                )
        raise InputError("the file was changed while it was read", advice="start again")


def read_qrels(path: str | PathLike[str]) -> Qrels:
    """Read the assessments at `path`. Raises InputError, with line and column, for the first fault."""
    file = ColumnFile.read(path, _KIND)
    found: dict[str, dict[str, int]] = {}
    for line, cells in file.rows():
        if len(cells) != 3:
            trec = len(cells) == 4 and cells[3].lstrip("-").isdigit()
            raise file.fault(
                line,
                3,
                f"the line has {len(cells)} columns",
                allowed="three: topic document L<n>",
                advice="these look like TREC qrels: leave out the second column and write 2 as L2" if trec else None,
            )
        topic, document, text = cells
        grade = _GRADE.fullmatch(text)
        if grade is None:
            raise file.fault(line, 2, f"{quote_cell(text)} is not a grade", allowed="L0 (nonrelevant), L1, L2, …")
        judged = found.setdefault(topic, {})
        if document in judged:
            raise file.fault(
                line,
                1,
                f"{quote_cell(document)} is judged twice for topic {topic}",
                advice="keep the line that is right",
            )
        judged[document] = int(grade[1])
    if not found:
        raise file.empty("assessments")
    return Qrels(file.path, MappingProxyType({topic: MappingProxyType(judged) for topic, judged in found.items()}))
