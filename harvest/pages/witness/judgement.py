"""A judgement over all turns of a run with one site: do the page and the received content agree, turn by turn? The
judgement also learns which messages signal the end of a reply.

The position of the reply in the received content is unknown. The key whose texts are most like the page's text over
all turns is assumed to carry the reply. Once the texts of a key have been like the page's text often enough, the key
may show that an answer differs. Any text may confirm an answer with the same words. The result only marks a turn and
never changes its text.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harvest.pages.witness.account import Account, KeyParts, Text
from harvest.pages.witness.comparison import LEAST_LIKENESS
from harvest.pages.witness.opening import Leaf, Shape
from harvest.pages.witness.received import generalize
from harvest.pages.witness.strands import AFTER_USER

_ENOUGH_TURNS = 3  # turns after which a signal is believed, and after which a key may accuse
_FEWEST_TURNS = 2  # turns after which a signal is believed if it came at once in all of them
_AT_ONCE_SECONDS = 0.25  # seconds after the last text
PROMPT_SECONDS = 1.0  # seconds after the last text: later messages come by themselves, as heartbeats do
_USUAL_SHARE = 0.9  # share of the turns in which it must have come
_MOST_FORMS = 200  # most forms that are remembered


@dataclass(slots=True)
class Endings:
    """The signals of complete replies, learnt from the turns of one site and shared by its conversations. A socket
    stays open after a reply, so only silence would show the end. Many sites therefore send something else, such as
    `task_end` or `done: true`. A signal is a form of message that follows the last text of the replies and never
    precedes it."""

    _turns: int = 0
    _after: Counter[str] = field(default_factory=Counter)
    _at_once: Counter[str] = field(default_factory=Counter)
    _before: set[str] = field(default_factory=set)

    def learn(self, shapes: Sequence[Shape], last_text: float) -> None:
        """Learn from a complete reply. `shapes` are the shapes of all messages in the turn, and `last_text` is the
        time of its last text."""
        self._turns += 1
        # A form that even once came before the last text, or long after it, is never a sign.
        self._before |= {shape.form for shape in shapes if not 0 < shape.at - last_text <= PROMPT_SECONDS}
        after = {shape.form for shape in shapes if shape.at > last_text} - self._before
        if len(self._after) < _MOST_FORMS:
            self._after.update(after)
            self._at_once.update({shape.form for shape in shapes if shape.at <= last_text + _AT_ONCE_SECONDS} & after)

    def distrust(self, forms: Collection[str]) -> None:
        """Stop using these forms as signals, because they came without a reply or before more text."""
        self._before |= set(forms)

    @property
    def signs(self) -> frozenset[str]:
        """The forms that signal an end on this site. The set is empty until enough turns have been seen."""
        if self._turns < _FEWEST_TURNS:
            return frozenset()
        counts = self._after if self._turns >= _ENOUGH_TURNS else self._at_once
        often = (form for form, count in counts.items() if count >= _USUAL_SHARE * self._turns)
        return frozenset(often) - self._before


def last_text(leaves: Sequence[Leaf], places: Collection[tuple[str, str]]) -> float | None:
    """Return the time of a reply's last piece, or None. `places` are the addresses and general paths of its pieces."""
    return max((leaf.at for leaf in leaves if (leaf.address, generalize(leaf.path)) in places), default=None)


Outcome = Literal["agrees", "differs", "silent"]

_ALIKE_SHARE = 0.8  # share of its turns in which it must be like the page …
_PROVEN_SHARE = 0.5  # … or the same; only then is it believed if the page has more text
_SHORT_REPLY = 40  # letters: shorter replies come in one piece even if replies are streamed
_HABIT_SHARE = 0.5  # share of the turns with an unread text that is not part of the replies
# The order of belief if several ways give the same text: joined text is as it was written.
_WAY_ORDER = {"joined": 0, "one": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one turn. `word` says whether the texts agree, and `why` gives the reason if the verdict is
    `silent`. `page` and `wire` are the words that only one side has, if the texts differ."""

    word: Outcome
    why: str = ""
    page: tuple[str, ...] = ()
    wire: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteJudgement:
    """The judgement over one site, with one verdict per turn. `unread` tells people about texts that come with most
    replies of this site and are not shown, with the number of turns. `doubtful` is True if the texts differ in most
    turns, so that the messages may have been misunderstood."""

    verdicts: tuple[Verdict, ...]
    unread: tuple[tuple[str, int], ...] = ()
    doubtful: bool = False


@dataclass(slots=True)
class _Record:
    present: int = 0
    right: int = 0
    alike: int = 0
    like: float = 0.0
    streamed: int = 0
    added: Counter[tuple[str, ...]] = field(default_factory=Counter)  # texts that only the page has, by number of turns

    @property
    def trust(self) -> float:
        """The likeness of this key's texts to the page's text, from 0 to 1. More texts give more trust."""
        return round(self.like / (self.present + 0.5), 3)


def judge(turns: Sequence[Account]) -> SiteJudgement:
    """Judge all turns of one site, given in any order."""
    wire = _SiteMessages(turns)
    found = [wire.verdict(turn) for turn in turns]
    unread = Counter(key for _, own in found for key in {key for key, _ in own})
    habits = {key for key, count in unread.items() if count > _HABIT_SHARE * wire.records[key].present}
    verdicts = []
    for verdict, own in found:
        odd = tuple(text for key, text in own if key not in habits)
        verdicts.append(Verdict("differs", wire=odd) if verdict.word == "agrees" and odd else verdict)
    differ = sum(verdict.word == "differs" for verdict in verdicts)
    compared = sum(verdict.word != "silent" for verdict in verdicts)
    examples = {key: text for _, own in found for key, text in own if key in habits}
    return SiteJudgement(
        tuple(verdicts),
        tuple((examples[key], unread[key]) for key in sorted(habits)),
        compared >= _ENOUGH_TURNS and differ > _PROVEN_SHARE * compared,
    )


def _count_records(turns: Iterable[Account]) -> dict[KeyParts, _Record]:
    records: dict[KeyParts, _Record] = {}
    for turn in turns:
        for key, text in _texts_by_key(turn).items():
            record = records.setdefault(key, _Record())
            record.present += 1
            record.right += text.is_right
            record.alike += text.is_right or text.like >= LEAST_LIKENESS
            record.like += 1.0 if text.is_right else text.like
            record.streamed += text.pieces > 1
            record.added[text.page] += bool(text.page)
    return records


def _texts_by_key(turn: Account) -> dict[KeyParts, Text]:
    found: dict[KeyParts, Text] = {}
    for text in turn.texts:
        if not text.old:
            for key in text.keys:
                if key not in found or (text.is_right, text.like) > (found[key].is_right, found[key].like):
                    found[key] = text
    return found


class _SiteMessages:
    """The messages of one site over all its turns. `accusers` are the keys that may show a difference, best first."""

    def __init__(self, turns: Sequence[Account]) -> None:
        self.records = _count_records(turns)
        after = {
            (*key[:3], key[3].removesuffix(AFTER_USER)): record
            for key, record in self.records.items()
            if key[3].endswith(AFTER_USER)
        }
        eligible: list[KeyParts] = []
        for key, record in self.records.items():
            often = record.alike >= _ALIKE_SHARE * record.present or record.right >= max(
                _ENOUGH_TURNS, _PROVEN_SHARE * record.present
            )
            # If the user's words come before every text, they are a part of the fragment and not of the replies.
            joined = key in after and after[key].present >= _ALIKE_SHARE * record.present
            if record.present >= _ENOUGH_TURNS and often and not joined:
                eligible.append(key)
        self.accusers = sorted(
            eligible, key=lambda key: (-self.records[key].trust, _WAY_ORDER.get(key[3], 1), len(key[2]), key)
        )

    def verdict(self, turn: Account) -> tuple[Verdict, list[tuple[KeyParts, str]]]:
        """Return the verdict, and the other texts of the reply that the page does not show, each with its key."""
        if turn.late:
            # The page received another text and shows it in place of the answer: the first was not an answer.
            return Verdict("differs", wire=(turn.late,)), []
        texts = _texts_by_key(turn)
        again = {key for text in turn.texts if text.old and text.is_right for key in text.keys}
        accuser = next((key for key in self.accusers if key in texts or key in again), None)
        confirming = [text for text in turn.texts if text.is_right]
        if accuser is None or accuser not in texts:
            if confirming:
                return Verdict("agrees"), []
            return Verdict("silent", _why_silent(turn, bool(self.accusers))), []
        text = texts[accuser]
        if text.is_right:
            return Verdict("agrees"), [(accuser, one) for one in text.beside]
        # A part or a stage of the reply is equal to a page that was cut short: it does not confirm.
        if any(not text.within or one.size >= text.size for one in confirming):
            return Verdict("agrees"), []
        record = self.records[accuser]
        unusual = text.pieces == 1 and record.streamed > _ALIKE_SHARE * record.present and text.size > _SHORT_REPLY
        if unusual and text.like < LEAST_LIKENESS:
            return Verdict("silent", "the reply came in another way than usual"), []
        proven = record.right >= _PROVEN_SHARE * record.present
        # Words that a page adds to most of its answers are not part of them.
        added = record.added[text.page] >= max(2, _PROVEN_SHARE * (record.present - record.right))
        if not proven and text.only_page and not (text.ahead or added):
            return Verdict("silent", "the messages on the wire are only partly understood"), []
        return Verdict("differs", "", text.page, text.wire), []


def _why_silent(turn: Account, learnt: bool) -> str:
    if not turn.received:
        return "nothing came over the wire that could be read"
    if turn.capped:
        return "more came over the wire than Harvest reads"
    if turn.unread and not turn.texts:
        return "the messages on the wire are binary or encrypted"
    if not learnt:
        return "the place of replies on the wire is unknown"
    return "no reply came in the usual place on the wire"


class SiteKnowledge:
    """What has been learnt about a site's messages in a run, for the accounts still to be written. `known` holds the
    keys whose texts were like the page's text. `endings` holds the signals that a reply is complete."""

    def __init__(self) -> None:
        self._records: dict[KeyParts, _Record] = {}
        self.endings = Endings()

    def add_account(self, turn: Account) -> None:
        for key, record in _count_records([turn]).items():
            known = self._records.setdefault(key, _Record())
            known.present += 1
            known.alike += record.alike

    @property
    def known_keys(self) -> frozenset[KeyParts]:
        """The keys whose texts are always kept."""
        return frozenset(
            key for key, one in self._records.items() if one.alike and one.alike >= _PROVEN_SHARE * one.present
        )
