"""Acts from a run folder, a file of acts, or one of the known data sets."""

from os import PathLike, fspath
from pathlib import Path

from recordings.acts.act_lines import FORMAT, read_act_lines
from recordings.acts.dialogue import Dialogues, dialogues_of
from recordings.acts.iard import Level, dialogues_in_iard, is_iard
from recordings.acts.queries import dialogues_in_queries, is_queries
from recordings.log.run_folder import is_run, read
from topics.errors import InputError, Place
from topics.json_file import read_json_value

_KINDS = (
    f'a run folder, a {FORMAT} file (.jsonl), the IARD file ({{"474": {{"dialogue_info": …}}, …}}), or search sessions '
    'as in Sim4IA ({"1": ["query", …], …})'
)


_RESERVED = {"start": "the start of a dialogue", "stop": "leaving"}  # as in `scoring.simulation.decisions`, above here


def read_dialogues(path: str | PathLike[str], *, level: Level = "top") -> Dialogues:
    """The dialogues at `path`, whichever kind it is. level: of the intents, for IARD.

    Raises InputError where its kind is unknown, where it holds no dialogue, or where an act has a reserved name.
    """
    place, where = Place.of(path), Path(path)
    if where.is_dir():
        if not is_run(where):
            raise InputError("a folder, but not of a run", place=place, allowed=_KINDS)
        run = read(where)
        # Without a protocol it is an import or a chat: people had these conversations, each another one.
        found = dialogues_of(run.conversations, None if run.header.protocol is None else run.header.seed)
    elif fspath(path).endswith(".jsonl"):
        found = Dialogues(read_act_lines(path))
    else:
        value = read_json_value(path).value
        if is_iard(value):
            found = Dialogues(dialogues_in_iard(value, place, level=level))
        elif is_queries(value):
            found = Dialogues(dialogues_in_queries(value, place))
        else:
            raise InputError("not a file that contains dialogues", place=place, allowed=_KINDS)
    if not found.kept:
        left = "; ".join(f"{count}: {why}" for why, count in found.left_out)
        raise InputError("no dialogue with a user turn" + (f" ({left})" if left else ""), place=place)
    for one in found.kept:
        for number, turn in enumerate(one.turns, 1):
            if turn.act in _RESERVED:
                raise InputError(
                    f"dialogue {one.id}, turn {number}: the act is called {turn.act!r}, which stands for "
                    f"{_RESERVED[turn.act]}",
                    place=place,
                    advice="give it another name",
                )
    return found
