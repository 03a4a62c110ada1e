"""Merge the repeated trials of a run into conversation trees, one for each system or for each system and topic.

Commands and audits name the merge keys:

exact                       both sides by their text
label                       user turns by protocol state, answers by label; topics are pooled
act                         both sides by acts: user turns by recorded acts if known, otherwise by acts from rules
entities                    user turns by protocol state, answers by the set of entities they name
user=KEY,system=KEY         one key for each side: exact, state, act, entities; label for the system
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from harvest.studies.runs.outlined_run import OutlinedRun
from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, TrialKey, Turn
from recordings.conversations.outlines import kinds
from recordings.events.attempts import Attempt
from recordings.log.caps import prevented_trials, standings, stop_sentences
from recordings.log.run_folder import Run
from recordings.trees.arrays import reorder
from recordings.trees.builder import (
    EXACT,
    EXACT_SAID,
    EXACT_TEXT,
    LABEL,
    LABEL_KEY,
    SPOKEN,
    STATE,
    MergeKey,
    Merging,
    TreeBuilder,
    combine_keys,
)
from recordings.trees.tree import ConversationTree, FoldedTrial, Scope
from scoring.swan.extraction import RULES, act_key
from topics.addresses import canonical_url
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.links import find_urls
from topics.topic import Topic


def folds_spoken(merge: str | None) -> bool:
    """Return true if these merge keys need only the words. Raises InputError for unknown keys."""
    return merge is None or merging_named(merge) in SPOKEN


def fold_trees(
    run: Run, *, system: str | None = None, topic: str | None = None, merge: str | None = None
) -> tuple[list[ConversationTree], list[str]]:
    """Return the trees of a run, and sentences about trials that are in no tree.

    If `folds_spoken` is true, `run` may be a recording of words only, unless it has a cap. `merge` is a name that
    `merging_named` accepts. None means `exact` if only one topic is requested or recorded, or if no answer has a label;
    otherwise, it means `label`. The first valid attempt of each trial is merged. A trial without a valid attempt is
    counted by the kind of its last attempt. Raises InputError for unknown names, and if no trial has a valid attempt.
    """
    topics = run.header.topic_set()
    known = {one.id: one for one in topics.topics} if topics else {}
    capped = standings(run.header, run.attempts)
    prevented = prevented_trials(capped)
    recorded = [one for one in run.attempts if _trial_key(one) not in prevented]
    _check_known(run, "system", system, [*run.header.systems, *(_trial_key(one).system for one in recorded)])
    _check_known(run, "topic", topic, [*known, *(_trial_key(one).topic for one in recorded)])
    chosen = [
        one for one in recorded if system in (None, _trial_key(one).system) and topic in (None, _trial_key(one).topic)
    ]
    unlabelled = False
    if merge is None:
        one_topic = len({_trial_key(one).topic for one in chosen}) <= 1
        unlabelled = not one_topic and not any(label for one in chosen for _, _, label, _ in one.spoken_turns)
        merge = "exact" if one_topic or unlabelled else "label"
    pools = topic is None and merging_named(merge).pools
    groups: dict[tuple[str, str], list[Attempt]] = {}
    first: dict[TrialKey, Attempt] = {}  # the first valid attempt of each trial
    for one in chosen:
        groups.setdefault((_trial_key(one).system, "" if pools else _trial_key(one).topic), []).append(one)
        if one.valid:
            first.setdefault(_trial_key(one), one)
    trees: list[ConversationTree] = []
    left = [*stop_sentences(capped)]
    left += act_sources((one.conversation() for one in first.values()), merge)
    if unlabelled:
        left.append(
            "no reply has a label, so by label all topics would be one tree without branches: merged by their words, a "
            "tree for each topic; --merge chooses another key"
        )
    for (name, about), attempts in groups.items():
        builder = TreeBuilder(
            merging_named(merge, known.get(about)), protocol=str(run.header.hashes.get("protocol", ""))
        )
        lost = _last_lost_attempts(attempts)
        whole = [builder.add_attempt(one) for one in attempts if first.get(_trial_key(one)) is one or id(one) in lost]
        if any(whole):
            trees.append(builder.tree())
        else:
            left.append(
                f"{name}{f', {about}' if about else ''} has no tree: no trial is complete ({_attempts_text(attempts)})"
            )
    if not trees:
        raise InputError(
            f"there is no complete trial to merge ({_attempts_text(chosen)})",
            place=Place(str(run.path)),
            advice="see with `harvest show` why trials are invalid, or play more: `harvest run` with the same --out",
        )
    return trees, left


def trees_of_outlines(
    run: OutlinedRun, *, system: str | None = None, merge: str | None = None
) -> list[ConversationTree]:
    """Return the trees that `fold_trees` makes of all topics of a run by label, from the trees in its columns; [] if it
    would make others, or say something about trials that are in no tree."""
    recorded: dict[str, list[Conversation]] = {}
    for one, _, _ in kinds(run.outlines):
        recorded.setdefault(one.key.system, []).append(one)
    chosen = [one for name, own in recorded.items() if system in (None, name) for one in own]
    by_label = merge is not None and merging_named(merge) is LABEL
    if merge is None and len({one.key.topic for one in chosen}) > 1:
        by_label = any(turn.label for one in chosen for turn in one.turns)
    if not by_label or not recorded.keys() <= run.trees.keys() or system not in (None, *recorded):
        return []
    done = run.outlines.valid
    # The last attempt of each trial without a valid one.
    lost = {one.key: one.outcome for one in run.outlines.invalid if one.key not in done.trials}
    trees = []
    for name in recorded if system is None else [system]:
        own = done.of_system(name)
        ranks = np.argsort(np.argsort(np.array(own.topics)))
        order = np.lexsort((own.attempt, own.trial, ranks[own.topic]))
        named = own.select(order)
        trials = [FoldedTrial(key, attempt) for key, attempt in zip(named.keys, named.attempt.tolist(), strict=True)]
        ends = [outcome for key, outcome in lost.items() if key.system == name]
        scope = Scope(
            (name,),
            tuple(sorted({topic for _, topic in named.trials.numbers})),
            (str(run.header.hashes.get("protocol", "")),),
            sum(end is not None for end in ends),
            sum(end is None for end in ends),
        )
        trees.append(replace(reorder(run.trees[name], order), trials=tuple(trials), scope=scope))
    return trees


def _trial_key(attempt: Attempt) -> TrialKey:
    return attempt.started.key


def _last_lost_attempts(attempts: Sequence[Attempt]) -> dict[int, Attempt]:
    valid = {_trial_key(one) for one in attempts if one.valid}
    lost = [one for one in attempts if _trial_key(one) not in valid]
    last = {_trial_key(one): one for one in sorted(lost, key=lambda one: one.started.attempt)}
    return {id(one): one for one in last.values()}


def _attempts_text(attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return "nothing recorded"
    lost = _last_lost_attempts(attempts).values()
    broken_off = sum(one.outcome is None for one in lost)
    invalid = len(lost) - broken_off
    kinds = [f"{count} {kind}" for count, kind in ((invalid, "invalid"), (broken_off, "interrupted")) if count]
    return f"{pluralize(len(lost), 'trial')} recorded: {', '.join(kinds)}"


def act_sources(conversations: Iterable[Conversation], merge: str) -> list[str]:
    """If there are both, say which user turns were merged by recorded acts, and which by acts from rules."""
    sides = dict(part.partition("=")[::2] for part in "".join(merge.split()).split(","))
    if merge != "act" and sides.get("user") != "act":
        return []
    recorded: Counter[str] = Counter()
    ruled: Counter[str] = Counter()
    for turn in (turn for one in conversations for turn in one.turns):
        (recorded if turn.act else ruled)[f"U{turn.number}"] += 1
    if not recorded or not ruled:
        return []
    listed = (", ".join(f"{turn} ({counts[turn]})" for turn in counts) for counts in (recorded, ruled))
    return ["acts of user turns: {} as the simulated user recorded them, {} by rules".format(*listed)]


def _check_known(run: Run, what: str, given: str | None, known: Sequence[str]) -> None:
    if given is not None and given not in known:
        names = list(dict.fromkeys(known))
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise InputError(f"this run has no {what} {given!r}", place=Place(str(run.path)), allowed=listed or "none")


# Merge keys with a name.
MERGINGS = ("exact", "label", "act", "entities")

_ALLOWED = f"{', '.join(MERGINGS)}, or user=KEY,system=KEY with KEY in exact, state, label, act, entities"


def merging_named(name: str, topic: Topic | None = None) -> Merging:
    """Return the merging with this name. The URL type of `topic` decides which addresses count as entities; without
    a topic, all addresses do. Raises InputError for an unknown name."""
    name = "".join(name.split())
    if name == "exact":
        return EXACT
    if name == "label":
        return LABEL
    if name == "act":
        return combine_keys(_ACT_SAID, _ACT)
    if name == "entities":
        return Merging("entities", STATE, _entity_key(topic, _answer_of))
    parts = dict(part.partition("=")[::2] for part in name.split(","))
    if set(parts) != {"user", "system"} or name.count("=") != 2:
        raise InputError(f"there is no merge key {name!r}", allowed=_ALLOWED)
    user, system = parts["user"], parts["system"]
    users = {
        "exact": EXACT_SAID,
        "state": STATE,
        "act": _ACT_SAID,
        "entities": _entity_key(topic, lambda turn: Answer.of(turn.said)),
    }
    systems = {"exact": EXACT_TEXT, "label": LABEL_KEY, "act": _ACT, "entities": _entity_key(topic, _answer_of)}
    if user not in users:
        raise InputError(f"user turns have no merge key {user!r}", allowed=", ".join(users))
    if system not in systems:
        raise InputError(f"system turns have no merge key {system!r}", allowed=", ".join(systems))
    # Neither state nor label contains a topic's words, however the pair is written.
    return combine_keys(users[user], systems[system], pools=(user, system) == ("state", "label"))


def _answer_of(turn: Turn) -> Answer:
    return turn.reply.answer if turn.reply is not None else Answer("")


def _entity_key(topic: Topic | None, side: Callable[[Turn], Answer]) -> MergeKey:
    kind = topic.type.url if topic is not None else None

    def key(turn: Turn) -> str:
        answer = side(turn)
        addresses = [mention.href for mention in find_urls(answer.text)] + [link.href for link in answer.links]
        named = (kind.key(address) if kind else canonical_url(address) for address in addresses)
        return " ".join(sorted({entity for entity in named if entity}))

    asked = f"entities ({kind.name})" if kind else "addresses"
    return MergeKey("entities", "urls/1", key, f"the same set of {asked}, in any order")


def _user_act(turn: Turn) -> str:
    # Users' acts are in small letters, those of the rules in capitals, so a node shows which it uses.
    return turn.act or act_key(turn.said)


_SAME_ACTS = "the same dialogue acts in the same order (F: a claim), by rules"
_ACT_SAID = MergeKey(
    "act",
    f"recorded, {RULES}",
    _user_act,
    "the same act as the simulated user recorded it; where none is recorded, in CAPITALS, the same dialogue acts in "
    "the same order (F: a claim), by rules",
)
_ACT = MergeKey(
    "act",
    RULES,
    lambda turn: act_key(_answer_of(turn).text, answering=turn.said.rstrip().endswith("?")),
    _SAME_ACTS,
)
