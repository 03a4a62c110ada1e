"""Check `--author`, the name by which a person's judgments can be selected later."""

from scoring.swan.votes import FOLDINGS
from topics.errors import InputError

_LONGEST = 100  # characters


def check_author(name: str) -> str:
    """Return the name without surrounding white space. Raises InputError for names of several lines, and for those
    that `--judges` or `--judgments` would misread."""
    found = name.strip()
    if found.casefold() in FOLDINGS:
        raise InputError(
            f"--author: {found!r} is a value of --judgments, so it cannot be a name",
            advice="take another name",
        )
    if not found.isprintable() or "," in found or len(found) > _LONGEST:
        raise InputError(
            f"--author: {found[:40]!r} cannot be a name",
            allowed=f"at most {_LONGEST} characters on one line, without commas, which separate the names of --judges",
        )
    return found
