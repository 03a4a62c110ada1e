"""Whether page and wire agree, turn by turn: a judgement over all turns of a run with one site.

Nobody says where on the wire the reply is. The key whose texts are most like the page's over the turns is believed to
be; it may accuse once it was like the page often enough. Any text may confirm by saying the same. A turn is marked, and
its text is never mended.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harvest.pages.witness.account import Account, KeyParts, Text
from harvest.pages.witness.comparison import HELD
from harvest.pages.witness.ending import Endings
from harvest.pages.witness.strands import AFTER_USER

Word = Literal["agrees", "differs", "silent"]

_ENOUGH = 3  # turns after which a key may accuse
_MOSTLY = 0.8  # of the turns in which it has text, in which it must be like the page …
_PROVEN = 0.5  # … or say the same; only then is it believed where the page has more than it
_SHORT = 40  # letters up to which a reply comes in one piece even where replies are streamed
_HABIT = 0.5  # of the turns in which a text goes unread that is no part of replies here
# The order of belief if several ways give the same text: joined text is as it was written.
_WAYS = {"joined": 0, "one": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """word: see Word. why: the reason of a silence, a phrase. page, wire: what one side alone has where they differ."""

    word: Word
    why: str = ""
    page: tuple[str, ...] = ()
    wire: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """verdicts: one a turn. unread: what comes with the replies of this site in most turns and is not shown, with the
    count of turns; a person should know it once. doubtful: the wire differs in most turns, so that it may be the wire
    that is not understood."""

    verdicts: tuple[Verdict, ...]
    unread: tuple[tuple[str, int], ...] = ()
    doubtful: bool = False


@dataclass(slots=True)
class _Record:
    """Of one key over the turns."""

    present: int = 0
    right: int = 0
    alike: int = 0
    like: float = 0.0
    streamed: int = 0
    added: Counter[tuple[str, ...]] = field(default_factory=Counter)  # what the page alone has, and in how many turns

    @property
    def trust(self) -> float:
        """How like the page its texts are, the more of them the surer: from 0 to 1."""
        return round(self.like / (self.present + 0.5), 3)


def judge(turns: Sequence[Account]) -> Judged:
    """Judge all turns of one site, given in any order."""
    wire = _Wire(turns)
    found = [wire.verdict(turn) for turn in turns]
    unread = Counter(key for _, own in found for key in {key for key, _ in own})
    habits = {key for key, count in unread.items() if count > _HABIT * wire.records[key].present}
    verdicts = []
    for verdict, own in found:
        odd = tuple(text for key, text in own if key not in habits)
        verdicts.append(Verdict("differs", wire=odd) if verdict.word == "agrees" and odd else verdict)
    differ = sum(verdict.word == "differs" for verdict in verdicts)
    compared = sum(verdict.word != "silent" for verdict in verdicts)
    examples = {key: text for _, own in found for key, text in own if key in habits}
    return Judged(
        tuple(verdicts),
        tuple((examples[key], unread[key]) for key in sorted(habits)),
        compared >= _ENOUGH and differ > _PROVEN * compared,
    )


def _records(turns: Iterable[Account]) -> dict[KeyParts, _Record]:
    records: dict[KeyParts, _Record] = {}
    for turn in turns:
        for key, text in _by_key(turn).items():
            record = records.setdefault(key, _Record())
            record.present += 1
            record.right += text.right
            record.alike += text.right or text.like >= HELD
            record.like += 1.0 if text.right else text.like
            record.streamed += text.pieces > 1
            record.added[text.page] += bool(text.page)
    return records


def _by_key(turn: Account) -> dict[KeyParts, Text]:
    """The text of each key; of several, as of each text beside others, the one most like the page."""
    found: dict[KeyParts, Text] = {}
    for text in turn.texts:
        if not text.old:
            for key in text.keys:
                if key not in found or (text.right, text.like) > (found[key].right, found[key].like):
                    found[key] = text
    return found


class _Wire:
    """The wire of one site as all its turns show it. accusers: the keys that may accuse, most trustworthy first."""

    def __init__(self, turns: Sequence[Account]) -> None:
        self.records = _records(turns)
        after = {
            (*key[:3], key[3].removesuffix(AFTER_USER)): record
            for key, record in self.records.items()
            if key[3].endswith(AFTER_USER)
        }
        eligible: list[KeyParts] = []
        for key, record in self.records.items():
            often = record.alike >= _MOSTLY * record.present or record.right >= max(_ENOUGH, _PROVEN * record.present)
            # If the user's words come before every text, they are a part of the fragment and not of the replies.
            joined = key in after and after[key].present >= _MOSTLY * record.present
            if record.present >= _ENOUGH and often and not joined:
                eligible.append(key)
        self.accusers = sorted(
            eligible, key=lambda key: (-self.records[key].trust, _WAYS.get(key[3], 1), len(key[2]), key)
        )

    def verdict(self, turn: Account) -> tuple[Verdict, list[tuple[KeyParts, str]]]:
        """Return the verdict, and the texts beside the reply that the page does not show, with their keys."""
        if turn.late:
            # The page has put another text in the place of the answer, and received it: the first one was none.
            return Verdict("differs", wire=(turn.late,)), []
        texts = _by_key(turn)
        again = {key for text in turn.texts if text.old and text.right for key in text.keys}
        accuser = next((key for key in self.accusers if key in texts or key in again), None)
        confirming = [text for text in turn.texts if text.right]
        if accuser is None or accuser not in texts:
            if confirming:
                return Verdict("agrees"), []
            return Verdict("silent", _why_silent(turn, bool(self.accusers))), []
        text = texts[accuser]
        if text.right:
            return Verdict("agrees"), [(accuser, one) for one in text.beside]
        # A part of the reply, or a stage of it, says what a page that was cut short says: it does not confirm.
        if any(not text.within or one.size >= text.size for one in confirming):
            return Verdict("agrees"), []
        record = self.records[accuser]
        unusual = text.pieces == 1 and record.streamed > _MOSTLY * record.present and text.size > _SHORT
        if unusual and text.like < HELD:
            return Verdict("silent", "the reply came in another way than usual"), []
        proven = record.right >= _PROVEN * record.present
        # What a page adds to most of its answers in the same words is no part of them.
        added = record.added[text.page] >= max(2, _PROVEN * (record.present - record.right))
        if not proven and text.only_page and not (text.ahead or added):
            return Verdict("silent", "what comes over the wire is only half understood"), []
        return Verdict("differs", "", text.page, text.wire), []


def _why_silent(turn: Account, learnt: bool) -> str:
    if not turn.received:
        return "nothing came over the wire that could be read"
    if turn.capped:
        return "more came over the wire than is read"
    if turn.unread and not turn.texts:
        return "what came over the wire is binary or encrypted"
    if not learnt:
        return "where replies come on the wire is not known"
    return "no reply came where replies come on the wire"


class Acquaintance:
    """What a run has learnt of a site's wire so far: the keys that were like the page, for the accounts that are still
    to be written, and what tells the end of a reply there (endings)."""

    def __init__(self) -> None:
        self._records: dict[KeyParts, _Record] = {}
        self.endings = Endings()

    def meet(self, turn: Account) -> None:
        for key, record in _records([turn]).items():
            known = self._records.setdefault(key, _Record())
            known.present += 1
            known.alike += record.alike

    @property
    def known(self) -> frozenset[KeyParts]:
        """The keys of which a text is to be kept, whatever it says."""
        return frozenset(key for key, one in self._records.items() if one.alike and one.alike >= _PROVEN * one.present)
