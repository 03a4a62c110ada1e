"""The questions about a run: its conversations with their items, and the rows of the selected criteria."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike

from harvest.judging.sheets.annotation_sheet import Assessed, row_counts, sample_rows, sheet_rows, shuffle_rows
from harvest.judging.sheets.sheet_file import Row
from recordings.conversations.conversation import Conversation
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import Run
from scoring.settings import Settings
from scoring.swan.assessment import TopicData, assess
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.rules.rule import Sight
from scoring.swan.schema import Schema
from topics.errors import InputError
from topics.identity import generator


def assess_run(
    run: str | PathLike[str],
    recorded: Run,
    schema: Schema,
    *,
    kept: bool = True,
    nuggets: str = "",
    judges: Precedence | None = None,
) -> list[Assessed]:
    """Return the finished conversations with their items. If `kept`, nuggets come from layers; otherwise, they are
    new. The scores are those of rules, or, with `judges`, also of people and models; `judges` then names the
    nuggets."""
    topics = recorded.header.topic_set()
    gold = read_gold_layers([run], topics)
    # People's scores must neither suppress a rule's score nor change the rows of a sheet.
    only_rules = Precedence((("rule", ""),), nuggets)
    judgments = Judgments.from_layers(read_layers(run), schema, only_rules) if kept else Judgments(only_rules)
    if judges is not None:
        judgments = Judgments.from_layers(read_layers(run), schema, judges)
    elif kept:
        judgments = Judgments(only_rules, layers=judgments.layers)
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    found = []
    for conversation in recorded.finished:
        topic = known.get(conversation.key.topic)
        ground = TopicData(topic, gold, topics.attributes if topics else {}, Settings())
        found.append(Assessed(conversation, assess(conversation, schema, judgments, ground)))
    return found


def sight_function(run: str | PathLike[str], recorded: Run) -> Callable[[Conversation], Sight]:
    """Return a function that returns the view of a conversation that rules read, with newly extracted nuggets."""
    topics = recorded.header.topic_set()
    gold = read_gold_layers([run], topics)
    known = {topic.id: topic for topic in topics.topics} if topics else {}

    def sight(conversation: Conversation) -> Sight:
        ground = TopicData(known.get(conversation.key.topic), gold, topics.attributes if topics else {}, Settings())
        return ground.sight(conversation, None, None)

    return sight


def rows_by_criterion(assessed: Sequence[Assessed], schema: Schema, kind: str = "human") -> dict[str, int]:
    """Return the number of rows for each criterion that may be scored. `kind` of scorers is `human` or `model`."""
    return row_counts(assessed, (one for one in schema if one.may_score(kind)))


@dataclass(frozen=True, slots=True)
class Draw:
    """Which rows are asked about. `topics` is the number of topics to draw with all their rows, and `sample` the number
    of rows of each criterion to draw from them; None for all."""

    sample: int | None = None
    seed: int = 0
    topics: int | None = None

    def drawn_topics(self, assessed: Sequence[Assessed]) -> list[Assessed]:
        """Return the conversations on the drawn topics."""
        known = sorted({one.conversation.key.topic for one in assessed})
        if self.topics is None or self.topics >= len(known):
            return list(assessed)
        chosen = generator(self.seed, "sheet", "topics").choice(len(known), self.topics, replace=False)
        names = {known[place] for place in chosen.tolist()}
        return [one for one in assessed if one.conversation.key.topic in names]


def select_rows(
    assessed: Sequence[Assessed],
    schema: Schema,
    names: Sequence[str],
    draw: Draw,
    kind: str = "human",
) -> tuple[list[Row], int]:
    """Return the rows of the criteria in an order drawn with `draw.seed`, and their number before drawing. `names` are
    criteria, or `all`. Raises InputError if there is no such criterion, if scorers of this `kind` may not score it, and
    if there is nothing to score."""
    there = rows_by_criterion(assessed, schema, kind)
    everything = [name.casefold() for name in names] == ["all"]
    chosen = [schema[name] for name in there] if everything else [schema[name] for name in names]
    barred = [one.name for one in chosen if not one.may_score(kind)]
    if barred:
        who = "people" if kind == "human" else "models"
        raise InputError(f"{who} may not score {', '.join(barred)} in the schema {schema.name!r}")
    chosen = list(dict.fromkeys(chosen))
    total = sum(there[one.name] for one in chosen)
    if not total:
        raise InputError(f"there is nothing to score by {', '.join(one.name for one in chosen)} in this run")
    asked = draw.drawn_topics(assessed)
    rows = chain.from_iterable(
        sheet_rows(asked, one)
        if draw.sample is None
        else sample_rows(sheet_rows(asked, one), draw.sample, generator(draw.seed, "sheet", one.name))
        for one in chosen
    )
    return shuffle_rows(list(rows), generator(draw.seed, "sheet", "order")), total
