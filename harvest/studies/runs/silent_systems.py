"""Systems without a valid trial. They are named because no figure would show that they are missing."""

import shlex
from collections.abc import Iterable, Sequence

from recordings.conversations.conversation import Conversation


def silent_systems(tried: Iterable[str], finished: Iterable[Conversation]) -> list[str]:
    """Return the systems in `tried` without a conversation in `finished`, each once."""
    answered = {one.key.system for one in finished}
    return [name for name in dict.fromkeys(tried) if name not in answered]


def none_valid(systems: Sequence[str], run: str = "") -> str:
    """Return a clause that says so. `run` names the run if there are several."""
    return f"no trial of {' and '.join(systems)}{f' in {run}' if run else ''} is valid"


def what_went_wrong(run: str = "RUN") -> str:
    """Return a clause that says how to find the cause."""
    return f"`harvest show {shlex.quote(run)} --all` lists what went wrong"
