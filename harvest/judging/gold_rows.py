"""Ungraded entities as rows of a gold table, for people to fill in."""

import re
from collections.abc import Sequence
from pathlib import Path

from harvest.judging.pool import PooledRun, pooled_entities
from recordings.files.shared_file import shared_file
from recordings.log.exports import refuse_target
from topics.csv_rows import csv_line, decode_table, is_utf16
from topics.errors import InputError
from topics.gold import GoldTable, gold_table, parse_gold
from topics.topic import TopicSet


def add_entities(runs: Sequence[PooledRun], path: Path) -> tuple[GoldTable, int]:
    """Add an ungraded row for every entity that neither the gold of the runs nor the table at `path` contains.
    Existing rows are unchanged, and a missing table is created. Commands that write to the same table wait for
    each other. Returns the table before the change and the number of rows added. Raises InputError if the runs
    have no topics or different topics, and if the file is not a gold table."""
    topics = _shared_topics(runs)
    refuse_target(path)
    open_ = [one for one in pooled_entities(runs) if not one.judged]  # before others have to wait
    with shared_file(path) as file:
        text = decode_table(file.data, str(path), "a CSV table")
        table = parse_gold(text, topics, str(path)) if text else GoldTable()
        used = dict.fromkeys(name for topic in topics.topics for name in topic.type.attributes)
        columns, separator = ["topic", "entity", "grade", "title", *used], ","
        if text:
            known = gold_table(text, topics, str(path))
            columns, separator = [cell.text for cell in known.head], known.separator
        rows = []
        for one in open_:
            if table.get(one.topic, one.key) is None and (one.topic, one.key) not in table.waiting:
                cells = {"topic": one.topic, "entity": one.key}
                rows.append(csv_line([cells.get(name, "") for name in columns], separator))
        # The line ending of a table is that of its first line.
        found = re.search("\r\n|\n|\r", text)
        end = found[0] if found else "\n"
        added = "".join([*([] if text else [csv_line(columns)]), *rows]).replace("\n", end)
        unended = "" if not text or text.endswith(("\n", "\r")) else end
        if added and is_utf16(file.data):  # ours are UTF-8
            file.replace(f"{text}{unended}{added}".encode())
        elif added:
            file.append(f"{unended}{added}".encode(), lines=False)
    return table, len(rows)


def _shared_topics(runs: Sequence[PooledRun]) -> TopicSet:
    sets = [topics for run in runs if (topics := run.recorded.header.topic_set()) is not None]
    if not sets:
        raise InputError("--gold needs runs with topics, because topics define what an entity is")
    first = sets[0]
    for one in sets:
        if (one.name, one.attributes) != (first.name, first.attributes):
            raise InputError(
                f"--gold: the runs have different topics ({first.name}, {one.name})", advice="pool the runs one by one"
            )
    every = {topic.id: topic for one in sets for topic in one.topics}
    elsewhere = dict.fromkeys(name for one in sets for name in one.left_out if name not in every)
    return TopicSet(first.name, tuple(every.values()), first.attributes, first.about, tuple(elsewhere))
