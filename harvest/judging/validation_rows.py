"""People's scores as a validation set: a CSV file with the columns that tools for checking judges expect.

    id       TRIAL:TURN, or TRIAL:TURN:START-END for text in a turn, or TRIAL for a whole conversation
    target   the score, from 0 to 1
    split    dev or test; the same for all rows of a topic, so that no test topic occurs in dev

TRIAL is the trial's identity, as in the `metadata` of `harvest data export --format messages`. For the second attempt,
it is followed by `#2`, and so on.
"""

from collections.abc import Iterable
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Target
from recordings.log.exports import write_export
from scoring.swan.judged import Judgments
from topics.csv_rows import csv_line
from topics.identity import content_hash


def topic_split(topic: str) -> str:
    """Return `dev` or `test`, equally likely. Only the topic's name decides, so the result is equal in every run."""
    return "dev" if int(content_hash("harvest-split", topic, size=1), 16) < 128 else "test"


def write_validation(
    conversations: Iterable[Conversation], judgments: Judgments, criterion: str, path: str | PathLike[str]
) -> int:
    """Write people's scores by `criterion`, without *n/a*, and return the number of rows. The precedence of
    `judgments` must contain only people. Raises the errors of `write_export`."""
    rows = []
    for one in conversations:
        opinions = judgments.opinions.get((one.trial_id, one.attempt), {})
        for (target, name), opinion in sorted(
            opinions.items(), key=lambda entry: (entry[0][0].turn, entry[0][0].start, entry[0][0].end)
        ):
            if name == criterion and opinion.value is not None:
                rows.append(csv_line((_target_id(target), f"{opinion.value:g}", topic_split(one.key.topic))))
    write_export(path, (csv_line(("id", "target", "split")) + "".join(rows)).encode())
    return len(rows)


def _target_id(target: Target) -> str:
    found = target.trial if target.attempt == 1 else f"{target.trial}#{target.attempt}"
    if target.turn:
        found += f":{target.turn}"
    return found if target.start < 0 else f"{found}:{target.start}-{target.end}"
