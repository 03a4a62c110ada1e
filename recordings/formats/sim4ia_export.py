"""Export of users' words as a run of Sim4IA's next-utterance task (Task B).

    {"meta": {"team_name": "t", "approach_description": "", "task": "Task_B", "run_name": "B1"}, "1": ["q1", "q2"]}

Each topic is a session. Its candidates are the last words of the user in the trials on that topic, so a trial is a
draw. The most frequent words come first, then the earliest. There are at most ten, all different.

Source: irgroup/Sim4IA-Bench, README.md, "Run files".
"""

from collections import Counter
from collections.abc import Iterable
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json, encode_document
from recordings.log.exports import write_export
from topics.counting import pluralize
from topics.errors import InputError

CANDIDATES = 10


def write_sim4ia(conversations: Iterable[Conversation], path: str | PathLike[str], team: str) -> tuple[str, ...]:
    """Write the candidates to `path`, completely or not at all, and return sentences on what the task still needs.
    Raises InputError if the conversations are with several systems, and the errors of `write_export`."""
    said: dict[str, Counter[str]] = {}
    systems: dict[str, None] = {}
    for one in conversations:
        systems[one.key.system] = None
        words = one.turns[-1].said.strip() if one.turns else ""
        if words:
            said.setdefault(one.key.topic, Counter())[words] += 1
    if len(systems) > 1:
        names = ", ".join(systems)
        raise InputError(f"a run of Sim4IA has one system, but there are {names}", advice="choose one with --system")
    if "meta" in said:
        raise InputError("a topic of a run of Sim4IA cannot be called 'meta'", advice="rename the topic")
    meta = {"team_name": team, "approach_description": "", "task": "Task_B", "run_name": "".join(systems)}
    row: dict[str, Json] = {"meta": meta}
    row |= {topic: [words for words, _ in counts.most_common(CANDIDATES)] for topic, counts in said.items()}
    write_export(path, encode_document(row))
    notes = ["meta.approach_description is empty: describe the user there before you submit the file"]
    if few := [topic for topic, counts in said.items() if len(counts) < CANDIDATES]:
        count = pluralize(len(few), "topic")
        notes.append(f"{count} with fewer than {CANDIDATES} different candidates ({few[0]}): play more trials")
    return tuple(notes)
