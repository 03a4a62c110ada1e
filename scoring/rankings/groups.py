"""Attribute sets of ranked documents: NTCIREVAL's membership files (gmemb) and gold distributions (golddistr).

    gmemb       `topic document p1 … pC` on each line: the document's shares of the C groups, summing to 1
    golddistr   one probability per line, C lines: the target shares of the groups

A set belongs to the topics in its membership file. The name of the set is the name of the gold file without
`.golddistr` (`M-RATINGS.golddistr`), and its membership file is `NAME.gmemb` or ends in `.NAME.gmemb`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.rankings.columns import ColumnFile, quote_cell
from topics.errors import InputError, Place

Scale = Literal["ordinal", "nominal"]

_TOLERANCE = 1e-6 * (1 + 1e-6)  # 0.333333 three times is off by 1e-6 and a rounding
_NAME = re.compile(r"[^\W\d][\w%-]*")
_KNOWN_SCALES: Mapping[str, Scale] = {  # the attribute sets of NTCIR FairWeb-1 and -2, and of NTCIREVAL's own example
    "RATINGS": "ordinal",
    "HINDEX": "ordinal",
    "SUBSCS": "ordinal",
    "FOLLOWERS": "ordinal",
    "ORIGIN": "nominal",
    "GENDER": "nominal",
    "PRONOUN": "nominal",
}


@dataclass(frozen=True, eq=False, slots=True)
class DocumentGroups:
    """An attribute set over documents: its scale if known, (C,) gold shares, and shares by topic and document."""

    name: str
    scale: Scale | None
    gold: npt.NDArray[np.float64]
    memberships: Mapping[str, Mapping[str, tuple[float, ...]]]

    def rows(self, topic: str, documents: Iterable[str]) -> tuple[npt.NDArray[np.float64], int]:
        """Return the documents' (K, C) memberships, uniform if unknown, and the number of unknown memberships."""
        known = self.memberships.get(topic, {})
        size = len(self.gold)
        uniform = (1 / size,) * size
        found = [known.get(document, uniform) for document in documents]
        unknown = sum(row is uniform for row in found)
        return np.array(found, dtype=np.float64).reshape(-1, size), unknown


def files_by_set(files: Iterable[str], suffix: str) -> dict[str, str]:
    """Return files by the name of their attribute set, from NAME=FILE or from the file name. Raises InputError for a
    file without a valid name and for two files with one name."""
    found: dict[str, str] = {}
    for given in files:
        name, mark, path = given.partition("=")
        if not mark or not _NAME.fullmatch(name):
            path = given
            # `toy.M-RATINGS.gmemb`: the part before the name is that of the collection
            name = Path(given).name.removesuffix(suffix).rpartition(".")[2]
        if not _NAME.fullmatch(name):
            raise InputError(
                f"the name of an attribute set cannot be taken from the file name: {quote_cell(name)}",
                place=Place(path),
                allowed="letters, digits, _ and -",
                advice=f"name the set with NAME=FILE, for example RATINGS={path}",
            )
        if name in found:
            raise InputError(f"the attribute set {name} must have only one file, not both {found[name]} and {path}")
        found[name] = path
    return found


def read_groups(
    memberships: Mapping[str, str | PathLike[str]],
    golds: Mapping[str, str | PathLike[str]],
    scales: Mapping[str, Scale] = MappingProxyType({}),
) -> tuple[DocumentGroups, ...]:
    """Read attribute sets and return them sorted by name.

    `memberships` and `golds` are files by name of the set, and `scales` has the known scales; the sets of NTCIR FairWeb
    are recognised by the last part of their names. Raises InputError for a set with only one of the two files, for
    sizes that do not match, and, with line and column, for the first fault in a file.
    """
    for name, path in (*memberships.items(), *golds.items()):
        other = "gold distribution" if name not in golds else "membership file"
        if name not in golds or name not in memberships:
            raise InputError(
                f"the attribute set {name} has no {other}",
                place=Place(fspath(path)),
                advice="give both --membership and --gold, as NAME=FILE if the file names differ",
            )
    for name in scales:
        if name not in golds:
            raise InputError(f"there is no attribute set {name!r}", allowed=", ".join(sorted(golds)) or "none")
    found = []
    for name in sorted(golds):
        gold = _read_gold(golds[name])
        scale = scales.get(name, _KNOWN_SCALES.get(name.rpartition("-")[2]))
        rows = _read_memberships(memberships[name], len(gold), fspath(golds[name]))
        found.append(DocumentGroups(name, scale, np.array(gold), rows))
    return tuple(found)


def _read_gold(path: str | PathLike[str]) -> list[float]:
    file = ColumnFile.read(path, "a gold distribution (one probability per line)")
    shares = []
    line = 1
    for line, cells in file.rows():
        if len(cells) > 1:
            raise file.fault(line, 1, f"the line has {len(cells)} columns", allowed="one probability per line")
        shares.append(file.probability(line, 0, cells[0]))
    if not shares:
        raise file.empty("probabilities")
    if len(shares) < 2:
        raise file.fault(line, 0, "the distribution has only one group", allowed="two or more groups, one per line")
    if abs(sum(shares) - 1) > _TOLERANCE:
        raise file.fault(
            line, 0, f"the probabilities sum to {sum(shares):.9g}, not to 1", allowed="a sum of 1, within 1e-6"
        )
    return shares


def _read_memberships(path: str | PathLike[str], size: int, gold: str) -> Mapping[str, Mapping[str, tuple[float, ...]]]:
    file = ColumnFile.read(path, "group memberships (topic document p1 … pC)")
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for line, cells in file.rows():
        if len(cells) != size + 2:
            raise file.fault(
                line,
                size + 2,
                f"the line has {len(cells)} columns",
                allowed=f"{size + 2}: topic, document and the {size} groups of {gold}",
            )
        topic, document = cells[:2]
        row = tuple(file.probability(line, place, text) for place, text in enumerate(cells[2:], 2))
        if abs(sum(row) - 1) > _TOLERANCE:
            raise file.fault(
                line, 2, f"the memberships sum to {sum(row):.9g}, not to 1", allowed="a sum of 1, within 1e-6"
            )
        documents = found.setdefault(topic, {})
        if document in documents:
            raise file.fault(
                line, 1, f"{quote_cell(document)} appears twice for topic {topic}", advice="keep only the correct line"
            )
        documents[document] = row
    if not found:
        raise file.empty("memberships")
    return MappingProxyType({topic: MappingProxyType(documents) for topic, documents in found.items()})
