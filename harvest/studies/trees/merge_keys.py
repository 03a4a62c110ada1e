"""Merge keys that can be named in commands and audits, including those that need scoring or topics.

exact                       both sides by their words
label                       user turns by protocol state, answers by label; topics are pooled
act                         both sides by their acts: recorded acts of users, otherwise dialogue acts by rules
entities                    user turns by protocol state, answers by the set of entities they name
user=KEY,system=KEY         one key for each side: exact, state, act, entities; label for the system
"""

from collections.abc import Callable

from protocols.answer import Answer
from recordings.conversations.conversation import Turn
from recordings.trees.builder import EXACT, EXACT_SAID, EXACT_TEXT, LABEL, LABEL_KEY, STATE, MergeKey, Merging, merging
from scoring.swan.extraction import RULES, act_key
from topics.addresses import canonical_url
from topics.errors import InputError
from topics.links import find_urls
from topics.topic import Topic

# Merge keys with a name.
MERGINGS = ("exact", "label", "act", "entities")

_ALLOWED = f"{', '.join(MERGINGS)}, or user=KEY,system=KEY with KEY in exact, state, label, act, entities"


def merging_named(name: str, topic: Topic | None = None) -> Merging:
    """Return the merging called `name`. The kind of URL of `topic` decides what counts as an entity; None counts
    every address. Raises InputError for an unknown name."""
    name = "".join(name.split())
    if name == "exact":
        return EXACT
    if name == "label":
        return LABEL
    if name == "act":
        return merging(_ACT_SAID, _ACT)
    if name == "entities":
        return Merging("entities", STATE, _entities(topic, _answer_of))
    parts = dict(part.partition("=")[::2] for part in name.split(","))
    if set(parts) != {"user", "system"} or name.count("=") != 2:
        raise InputError(f"there is no merge key {name!r}", allowed=_ALLOWED)
    user, system = parts["user"], parts["system"]
    users = {
        "exact": EXACT_SAID,
        "state": STATE,
        "act": _ACT_SAID,
        "entities": _entities(topic, lambda turn: Answer.of(turn.said)),
    }
    systems = {"exact": EXACT_TEXT, "label": LABEL_KEY, "act": _ACT, "entities": _entities(topic, _answer_of)}
    if user not in users:
        raise InputError(f"user turns have no merge key {user!r}", allowed=", ".join(users))
    if system not in systems:
        raise InputError(f"system turns have no merge key {system!r}", allowed=", ".join(systems))
    # Neither state nor label contains a topic's words, however the pair is written.
    return merging(users[user], systems[system], pools=(user, system) == ("state", "label"))


def _answer_of(turn: Turn) -> Answer:
    return turn.reply.answer if turn.reply is not None else Answer("")


def _entities(topic: Topic | None, side: Callable[[Turn], Answer]) -> MergeKey:
    kind = topic.type.url if topic is not None else None

    def key(turn: Turn) -> str:
        answer = side(turn)
        addresses = [mention.href for mention in find_urls(answer.text)] + [link.href for link in answer.links]
        named = (kind.key(address) if kind else canonical_url(address) for address in addresses)
        return " ".join(sorted({entity for entity in named if entity}))

    asked = f"entities ({kind.name})" if kind else "addresses"
    return MergeKey("entities", "urls/1", key, f"the same set of {asked}, in any order")


def _act_said(turn: Turn) -> str:
    # Users' acts are in small letters, those of the rules in capitals, so a node shows which it uses.
    return turn.act or act_key(turn.said)


_SAME_ACTS = "the same dialogue acts in the same order (F: a claim), by rules"
_ACT_SAID = MergeKey(
    "act",
    f"recorded, {RULES}",
    _act_said,
    "the same act as the simulated user recorded it; where none is recorded, in CAPITALS, the same dialogue acts in "
    "the same order (F: a claim), by rules",
)
_ACT = MergeKey(
    "act",
    RULES,
    lambda turn: act_key(_answer_of(turn).text, answering=turn.said.rstrip().endswith("?")),
    _SAME_ACTS,
)
