"""Where the gold of several runs' audits differs in what it says; its name may differ from machine to machine."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from recordings.files.json_text import Json
from recordings.judged.gold_layers import TABLE
from recordings.judged.judgments import read_layers
from recordings.log.audits_apart import both, values_apart
from recordings.log.run_folder import Run
from topics.counting import pluralize

_Gold = Mapping[tuple[str, str], Mapping[str, Json]]


def gold_apart(runs: Iterable[Run]) -> str:
    """Where the gold of the runs' audits differs, with two of the values; "" where it does not.

    Compared is what the newest table of each run says of the topics that both have.
    """
    tables = [(set(run.header.hashes.get("topics", {})), *_gold(run)) for run in runs]
    for (topics, named, one), (others, also_named, two) in combinations(tables, 2):
        if bool(named) != bool(also_named):
            return f"gold differs ({both(named or None, also_named or None)})"
        if not one or not two:
            continue  # a run of a version that kept none, or one in which nothing was played yet
        changed = sorted(name for name in {*one, *two} if name[0] in topics & others and one.get(name) != two.get(name))
        if changed:
            (topic, entity), more = changed[0], len(changed) - 1
            path, *values = next(values_apart("", one.get(changed[0]), two.get(changed[0])))
            others_too = f"; and of {pluralize(more, 'more entity')}" if more else ""
            return f"the gold of {entity} in {topic} differs ({path[1:]}: {both(*values)}){others_too}"
    return ""


def _gold(run: Run) -> tuple[str, _Gold]:
    """The name of the gold of a run's audit, and what it says by topic and entity."""
    audit = run.header.audit
    name = audit.get("gold") if isinstance(audit, dict) else None
    tables = [one for one in read_layers(run.path) if (one.kind, one.author, one.source) == ("gold", TABLE, name)]
    judgments = tables[-1].judgments if name and tables else ()
    return str(name or ""), {
        (str(one.about.get("topic")), str(one.about.get("entity"))): one.value
        for one in judgments
        if isinstance(one.value, dict)
    }
