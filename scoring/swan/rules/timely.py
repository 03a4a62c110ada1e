"""`timely`: Adaptability, judged by the number of days until a system gives the new answer ([SWAN] §4.20).

The topic's fields describe the change: `changed_on` is the day of the change, and `now` and `before` are the words of
the new and the old answer, several of them with | in between.
"""

import re
from collections.abc import Mapping
from functools import partial

from recordings.files.times import day_of
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict
from topics.counting import pluralize

_DAYS = 30
_MOST_DAYS = 36525
# Runs further apart do not tell: the score would lie anywhere between two values with this difference.
_WIDEST = 0.5


def timely_rule(days: int = _DAYS) -> SetRule:
    """Return the rule under which a delay of `days` days or more scores 0. Raises ValueError for an invalid number."""
    if not 1 <= days <= _MOST_DAYS:
        raise ValueError(f"days must be from 1 to {_MOST_DAYS}, not {days}")
    return SetRule(
        name=f"timely(days={days})",
        version="1",
        limits="sees the words that the topic names, in denials too; knows a delay as far as the days of runs show it",
        silence="the topic has no fields changed_on (YYYY-MM-DD), now and before, or runs are too far from the change",
        judge=partial(_judge, days=days),
    )


def _judge(sight: SetSight, *, days: int) -> SetVerdict | None:
    """Score 1 - delay/days, at least 0. The delay is known to lie between the last old answer, or the change, and the
    first new answer after it; the score is the mean of the scores at both ends. An answer with the words of both
    states is new, since it may tell of the change."""
    fields: Mapping[str, str] = sight.own[0].topic.fields if sight.own and sight.own[0].topic else {}
    changed, new, old = day_of(fields.get("changed_on", "")), _words(fields.get("now")), _words(fields.get("before"))
    if changed is None or new is None or old is None:
        return None
    told: list[tuple[str, int, bool]] = []
    for one in sight.own:
        day = day_of(one.conversation.started_at)
        text = "\n".join(turn.reply.answer.text for turn in one.conversation.turns if turn.reply is not None)
        delay = (day - changed).days if day is not None else -1
        if delay >= 0 and (new.search(text) or old.search(text)):
            told.append((one.conversation.started_at, delay, bool(new.search(text))))
    told.sort()
    stale = [delay for _, delay, fresh in told if not fresh]
    last = max((place for place, one in enumerate(told) if not one[2]), default=-1)
    earliest, latest = max(stale, default=0), told[last + 1][1] if told[last + 1 :] else days
    ends = [max(0.0, 1 - delay / days) for delay in (earliest, max(earliest, latest))]
    if not told or ends[0] - ends[1] > _WIDEST:
        return None
    until = f"by day {latest}" if told[last + 1 :] else "not yet"
    since = f"old until day {earliest}, " if stale else ""
    return SetVerdict(
        (ends[0] + ends[1]) / 2, f"{since}new {until} after the change, in {pluralize(len(told), 'conversation')}"
    )


def _words(text: str | None) -> re.Pattern[str] | None:
    every = [re.escape(one.strip()) for one in (text or "").split("|") if one.strip()]
    return re.compile(rf"(?<!\w)(?:{'|'.join(every)})(?!\w)", re.IGNORECASE) if every else None


TIMELY = timely_rule()
