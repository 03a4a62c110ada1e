"""Valid names of systems, outcomes and times in imports: a wrong word here would be a wrong figure later."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from recordings.conversations.conversation import INVALID
from recordings.conversations.endings import KINDS
from recordings.files.times import moment
from topics.errors import InputError
from topics.suggestions import did_you_mean
from topics.unseen_characters import unseen_in

# What files call the outcome of a conversation that breaks off; it is recorded without one.
INTERRUPTED = "interrupted"

OUTCOMES = (*KINDS, INVALID, INTERRUPTED)

# The most user turns that a file may give or report missing: the limit of a protocol.
MOST_TURNS_ALLOWED = 10_000


def check_system_name(name: str) -> None:
    """Raise InputError for a name that an import may not give a system; other names are free."""
    wrong = (
        "has an @, which would be taken for SYSTEM@RUN"
        if "@" in name
        else "is a path"
        if {".", ".."} & set(re.split(r"[/\\]", name))
        else "is blank"
        if not name.strip()
        else "holds half a character (a lone surrogate)"
        if re.search("[\ud800-\udfff]", name)
        else ""
    )
    if wrong:
        raise InputError(
            f"{name!r} cannot be the name of a system: it {wrong}",
            allowed="any name without @ that is not a path",
            advice="rename it in the file, or give --system if the file names none",
        )


def odd_names(systems: Iterable[str]) -> Iterator[str]:
    """Yield a sentence on each misleading name of a system: with white space around it, line ends, or invisible
    characters; and on names that look the same. They are kept as separate systems."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(set(systems)):
        shown = name.translate({ord(one): f"<U+{ord(one):04X}>" for one in {*unseen_in(name), *"\t\n\r"}})
        if shown != name:
            yield f"the name of a system has characters that nobody sees: {shown[:100]}"
        elif name != name.strip():
            yield f"the name of a system has white space around it: {name!r}"
        seen = name.translate(dict.fromkeys(map(ord, unseen_in(name)), ""))
        alike[" ".join(unicodedata.normalize("NFC", seen).split())].append(name)
    for several in alike.values():
        if len(several) > 1:
            codes = ", ".join(ascii(name)[:100] for name in several)
            yield f"names that look the same count as {len(several)} systems: {codes}"


def check_outcome(kind: str) -> None:
    """Raise InputError for an outcome that no conversation can have."""
    if kind not in OUTCOMES:
        raise InputError(f"{kind!r} is not an outcome{did_you_mean(kind, OUTCOMES)}", allowed=", ".join(OUTCOMES))


def check_time(written: str) -> None:
    """Raise InputError for a text that is not an instant; "" is an unknown one."""
    if written and moment(written) == -math.inf:
        raise InputError(f"{written!r} is not a time", allowed="ISO 8601, such as 2026-01-31T12:00:00Z")
