"""The achieved distributions of one conversation next to their targets, with the memberships behind them.

This is Table 2 of [GFRC] with the memberships of Figure 5, as tables for people, as a JSON value, and as lines.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from rich.table import Table
from rich.text import Text

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Judges, Material
from harvest.tables.figure_table import figure_table
from harvest.terminal import printable
from recordings.conversations.conversation import Conversation
from recordings.log.run_folder import Run
from scoring.fairness import GroupFairness, group_fairness
from scoring.material import Material as Ground
from scoring.measures.group_fairness import FAIRNESS, set_fairness
from scoring.nuggets import Nugget
from scoring.settings import Settings
from topics.attributes import AttributeSet
from topics.decimals import decimal
from topics.errors import InputError

_NAME_WIDTH, _CELL_WIDTH = 17, 7  # with edges: eight groups and a divergence take 80 columns, and each number 6
_DIGITS = 12  # decimals in JSON: the last bits of a sum differ between processors


def gold_grounds(run: Run, chosen: Sequence[Conversation]) -> dict[tuple[str, int], Ground]:
    """Return the valid conversations of a run, by trial and attempt, as input of measures."""
    gathered = gather_runs(run)
    return {
        (one.trial_id, one.attempt): gold_ground(gathered.material, gathered.settings, one)
        for one in chosen
        if one.valid
    }


def gold_ground(material: Material, settings: Settings, conversation: Conversation) -> Ground:
    """Return a conversation as input of measures. Raises InputError if the run has no gold table."""
    if material.gold is None:
        raise InputError(
            "the groups of entities are not known, because the run has no gold table",
            advice="play or import it again with a gold table",
        )
    topic = material.topics[conversation.key.topic]
    judged = partial(Judges().judged, ())
    attributes, sources = material.topics.attributes, material.topics.sources
    return Ground(conversation, topic, material.gold, attributes, settings, judged, settings, sources)


def group_tables(ground: Ground, width: int) -> Iterator[Table | Text]:
    """Yield a table of each attribute set, and a line with its groups. There are several tables if the columns of all
    groups do not fit into `width`. If the conversation has no figures, a line says why."""
    if reason := _reason(ground):
        yield Text(f"no groups: {printable(reason, line=True)}", style="dim")
        return
    for attribute in ground.sets:
        made = set_fairness(ground, attribute)
        fit = max(1, (width - _NAME_WIDTH - _CELL_WIDTH * len(made)) // _CELL_WIDTH)
        for start in range(0, len(attribute.groups), fit):
            yield _group_table(ground, attribute, made, range(start, min(start + fit, len(attribute.groups))))
        listed = ", ".join(f"{number} {group}" for number, group in enumerate(attribute.groups, start=1))
        yield Text(f"groups of {printable(f'{attribute.name}: {listed}', line=True)}", style="dim")


def _group_table(
    ground: Ground, attribute: AttributeSet, made: Sequence[GroupFairness], groups: Sequence[int]
) -> Table:
    def cells(shares: Sequence[float], similar: Sequence[float] = ()) -> list[str]:
        found = [_share_text(shares[group]) if shares else "" for group in groups]
        return found + [decimal(value, 4) for value in similar] + [""] * (len(made) - len(similar))

    headings = [*(str(group + 1) for group in groups), *(one.divergence for one in made)]
    table = figure_table(attribute.name, headings, min_width=_NAME_WIDTH - 2)
    table.padding = 0
    table.add_row("target", *cells(attribute.gold))
    counted = {turns[0].turn: turns for turns in zip(*(one.turns for one in made), strict=True)}
    for number in (passage.turn for passage in ground.passages if passage.speaker == "system"):
        if number not in counted:  # it holds nothing relevant; the paper has a dash, too
            table.add_row(f"S{number}", *("-" for _ in headings))
            continue
        turns = counted[number]
        table.add_row(f"S{number}", *cells(turns[0].achieved, [one.similarity for one in turns]))
        for nugget in ground.relevant:
            if nugget.turn == number:
                name = Text(f"  {_nugget_name(nugget, attribute)}", style="dim")
                table.add_row(name, *cells(nugget.memberships[attribute.name]))
    table.add_row(f"{FAIRNESS.name}({attribute.name})", *cells((), [one.value for one in made]))
    return table


def _nugget_name(nugget: Nugget, attribute: AttributeSet) -> str:
    unknown = " (group unknown)" if attribute.name in nugget.unknown else ""
    return printable(nugget.title or nugget.entity, line=True) + unknown


def _share_text(share: float) -> str:
    """Format a share as the paper does, without zeros at the end: `0`, `0.6`, `0.8333`."""
    return decimal(share, 4).rstrip("0").rstrip(".")


def achieved_lines(
    nuggets: Sequence[Nugget], attributes: Sequence[AttributeSet], settings: Settings
) -> dict[int, list[str]]:
    """Return a line for each attribute set and each turn with a relevant nugget, by turn: the achieved distribution,
    the target and the similarity. `nuggets` has the nuggets of one conversation, in reading order."""
    found: dict[int, list[str]] = {}
    turns = dict.fromkeys((one.turn for one in nuggets if one.relevant), 1)
    for attribute in attributes if turns else ():
        fairness = group_fairness(nuggets, turns, attribute, settings)[0]
        target = " ".join(map(_share_text, attribute.gold))
        for turn in fairness.turns:
            shares = " ".join(map(_share_text, turn.achieved))
            similar = f"similarity {decimal(turn.similarity, 4)} ({fairness.divergence})"
            found.setdefault(turn.turn, []).append(f"{attribute.name}: {shares}, target {target}, {similar}")
    return found


def _reason(ground: Ground) -> str:
    if ground.unscorable:
        return ground.unscorable
    return "" if ground.sets else "the topic's type has no attribute sets"


def group_value(ground: Ground) -> dict[str, object]:
    """Return a JSON value with every number of `group_tables`, and `reason`, which is "" unless there is no set."""
    sets = []
    for attribute in () if _reason(ground) else ground.sets:
        made = set_fairness(ground, attribute)
        sets.append(
            {
                "set": attribute.name,
                "scale": attribute.scale,
                "groups": list(attribute.groups),
                "target": _rounded(attribute.gold),
                "turns": [
                    {
                        "turn": turns[0].turn,
                        "n": turns[0].nuggets,
                        "weight": round(turns[0].weight, _DIGITS),
                        "achieved": _rounded(turns[0].achieved),
                        "similarity": {
                            one.divergence: round(turn.similarity, _DIGITS)
                            for one, turn in zip(made, turns, strict=True)
                        },
                    }
                    for turns in zip(*(one.turns for one in made), strict=True)
                ],
                "nuggets": [
                    {
                        "turn": nugget.turn,
                        "entity": nugget.entity,
                        "title": nugget.title,
                        "position": nugget.position,
                        "gain": nugget.gain,
                        "known": attribute.name not in nugget.unknown,
                        "membership": _rounded(nugget.memberships[attribute.name]),
                    }
                    for nugget in ground.relevant
                ],
                "fairness": {one.divergence: round(one.value, _DIGITS) for one in made},
            }
        )
    return {"reason": _reason(ground), "sets": sets}


def _rounded(shares: Sequence[float]) -> list[float]:
    return [round(share, _DIGITS) for share in shares]
