"""Merge keys: when two turns are one branch. Always by an equal key, never by the similarity of two texts.

    exact       both texts have the same normal form: NFC, white space collapsed, nothing else
    label       system turns of one label (o, x; ? for an unclassified reply); user turns said in one protocol state
    a function  `MergeKey(name, version, function, reason)` of your own for either speaker

"is Paris" and "is not Paris" are 97% alike and say the opposite, so there is no threshold to set here.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from recordings.conversations.conversation import Turn
from recordings.trees.tree import DeclaredKey


@dataclass(frozen=True, slots=True)
class MergeKey:
    """How the turns of one speaker are distinguished.

    function: Turn -> key. For the system's side it is called only with turns that have a reply. version: changes
    whenever the function may give another key. reason: a clause that says why turns of one key are one branch.
    """

    name: str
    version: str
    function: Callable[[Turn], str]
    reason: str

    def declared(self, speaker: str) -> DeclaredKey:
        return DeclaredKey(speaker, self.name, self.version, self.reason)


@dataclass(frozen=True, slots=True)
class Merging:
    """The keys of both speakers. name: how the pair is written (`exact`, `label`, `user=state, system=act`).

    pools: trees of different topics may be one, because no key depends on the topic.
    """

    name: str
    user: MergeKey
    system: MergeKey
    pools: bool = False

    @property
    def declared(self) -> tuple[DeclaredKey, ...]:
        """The keys as a tree keeps them, the system's first."""
        return self.system.declared("system"), self.user.declared("user")


def exact_form(text: str) -> str:
    """Return the exact normal form: Unicode NFC, each run of white space (as in `str.split`) one space, none at the
    ends.

    Case is kept: `US` is not `us`, addresses and their keys are case-sensitive, and a reply in capitals is another
    reply. Punctuation, digits and markup are kept too. Two texts of one form show the same words to a reader.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


_SAME_WORDS = "the same words (NFC, white space collapsed, nothing else)"
EXACT_SAID = MergeKey("exact", "1", lambda turn: exact_form(turn.said), _SAME_WORDS)
EXACT_TEXT = MergeKey(
    "exact", "1", lambda turn: exact_form(turn.reply.answer.text) if turn.reply is not None else "", _SAME_WORDS
)
LABEL_KEY = MergeKey(
    "label",
    "1",
    lambda turn: turn.label or "?",
    "a rule gave the answers the same label (o useful, x not useful, ? none)",
)
STATE = MergeKey("state", "1", lambda turn: turn.state, "said in the same state of the protocol")

EXACT = Merging("exact", EXACT_SAID, EXACT_TEXT)
LABEL = Merging("label", STATE, LABEL_KEY, pools=True)


def merging(user: MergeKey, system: MergeKey, *, pools: bool = False) -> Merging:
    """Return the two keys as a pair, named after the system's if both have one name."""
    name = system.name if user.name == system.name else f"user={user.name}, system={system.name}"
    return Merging(name, user, system, pools)


def by_function(
    name: str, user: Callable[[Turn], str], system: Callable[[Turn], str], *, version: str, reason: str
) -> Merging:
    """Return keys of the caller's own, declared as `function(name)`."""
    written = f"function({name})"
    return Merging(written, MergeKey(written, version, user, reason), MergeKey(written, version, system, reason))
