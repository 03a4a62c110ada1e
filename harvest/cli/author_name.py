"""`--author`: a name by which a person's judgments can be asked for later."""

from scoring.swan.votes import FOLDINGS
from topics.errors import InputError

_LONGEST = 100  # characters


def check_author(name: str) -> str:
    """The name without white space around it. Raises InputError for one that `--judges` or `--judgments` would take for
    something else, or that does not stand on one line."""
    found = name.strip()
    if found.casefold() in FOLDINGS:
        raise InputError(
            f"--author: {found!r} is a way to fold judgments (--judgments), so nobody can be called that",
            advice="take another name",
        )
    if not found.isprintable() or "," in found or len(found) > _LONGEST:
        raise InputError(
            f"--author: {found[:40]!r} cannot be a name",
            allowed=f"at most {_LONGEST} characters on one line, without commas, which part the names of --judges",
        )
    return found
