"""Systems of which no trial is valid: no figure would show that they are missing, so they are named."""

import shlex
from collections.abc import Iterable, Sequence

from recordings.conversations.conversation import Conversation


def silent_systems(tried: Iterable[str], finished: Iterable[Conversation]) -> list[str]:
    """Those of the systems `tried` that have no valid conversation, each once. finished: the valid conversations."""
    answered = {one.key.system for one in finished}
    return [name for name in dict.fromkeys(tried) if name not in answered]


def none_valid(systems: Sequence[str], run: str = "") -> str:
    """What is to be said of them, in a clause. run: in which one, where there are several."""
    return f"no trial of {' and '.join(systems)}{f' in {run}' if run else ''} is valid"


def what_went_wrong(run: str = "RUN") -> str:
    """How a person finds out, in a clause."""
    return f"`harvest show {shlex.quote(run)} --all` lists what went wrong"
