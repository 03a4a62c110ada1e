"""Compare answers read from pages with the network traffic of the run, and bound the share of misread answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recordings.conversations.conversation import Conversation
from recordings.conversations.outlines import Outlines, by_system
from recordings.files.evidence import read_exhibit
from recordings.log.run_folder import Run
from scoring.inference.reading_error import SENSITIVITY, ReadingError, WitnessCounts, reading_error
from topics.counting import pluralize
from topics.decimals import percent

if TYPE_CHECKING:
    from harvest.pages.witness.judgement import SiteJudgement, Verdict

_MOST_REASONS = 3  # in a sentence
_LONGEST_TEXT = 60  # characters of an unread text


@dataclass(frozen=True, slots=True)
class Witnessed:
    """The comparison of one system's answers with its network traffic. `verdicts` are keyed by trial id, attempt
    and turn. `damaged` is the number of unreadable traffic records."""

    verdicts: Mapping[tuple[str, int, int], Verdict]
    judged: SiteJudgement
    error: ReadingError
    damaged: int = 0


def judge_wire(conversations: Sequence[Conversation], folder: Path) -> Witnessed | None:
    """Compare one system's answers with the stored traffic of the run `folder`. Returns None without traffic."""
    replies = (turn.reply for one in conversations for turn in one.turns)
    if not any(reply is not None and "wire" in reply.evidence for reply in replies):
        return None
    from harvest.pages.witness.account import Account  # late: few runs have traffic of pages
    from harvest.pages.witness.judgement import judge

    accounts: dict[tuple[str, int, int], Account] = {}
    damaged = 0
    for one in conversations:
        before: tuple[str, int, int] | None = None
        for turn in one.turns:
            address = turn.reply.evidence.get("wire") if turn.reply is not None else None
            if address is None:
                before = None
                continue
            place = (one.trial_id, one.attempt, turn.number)
            try:
                account = Account.from_bytes(read_exhibit(folder, address))
            except ValueError:
                damaged, before = damaged + 1, None
                continue
            if before is not None and account.before is not None:
                accounts[before] = account.before  # the next turn's account has what arrived after this one was read
            accounts[place] = account
            before = place
    if not accounts:
        return None
    judged = judge(tuple(accounts.values()))
    verdicts = dict(zip(accounts, judged.verdicts))
    words: dict[tuple[str, int], Counter[str]] = {}
    for (trial, attempt, _), verdict in verdicts.items():
        words.setdefault((trial, attempt), Counter())[verdict.word] += 1
    told = [WitnessCounts(of["agrees"], of["differs"], of["silent"]) for of in words.values()]
    return Witnessed(verdicts, judged, reading_error(told), damaged)


def judge_systems(
    conversations: Sequence[Conversation], folders: Mapping[str, Path]
) -> Iterator[tuple[str, Witnessed]]:
    """Yield each system that has stored traffic, with its comparison. `folders` has the run folder of each system.
    Conversations with traffic have no outlines."""
    for system, held in ({} if isinstance(conversations, Outlines) else by_system(conversations)).items():
        found = judge_wire(held, folders[system]) if system in folders else None
        if found is not None:
            yield system, found


def wire_verdicts(run: Run, conversations: Sequence[Conversation]) -> dict[tuple[str, int, int], Verdict]:
    """Return the verdicts on turns of `conversations` conversations, by trial id, attempt and turn. The format of the
    traffic is learnt from all conversations of the run with the systems in `conversations`."""
    systems = {one.key.system for one in conversations}
    of_them = [one for one in run.conversations if one.key.system in systems]
    seen = judge_systems(of_them, dict.fromkeys(systems, run.path))
    return {place: verdict for _, found in seen for place, verdict in found.verdicts.items()}


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield lines that explain a verdict."""
    if verdict.word == "agrees":
        yield "the page received the same"
    elif verdict.word == "silent":
        yield f"not compared with what the page received: {verdict.why}"
    else:
        yield "what the page received differs from this answer"
        yield from (f"only in the answer: {words}" for words in verdict.page)
        yield from (f"only received: {words}" for words in verdict.wire)


def witness_notes(conversations: Sequence[Conversation], folders: Mapping[str, Path]) -> Iterator[str]:
    """Yield sentences about the comparison, system by system. `folders` has the run folder of each system."""
    for system, found in judge_systems(conversations, folders):
        error = found.error
        if error.compared:
            yield (
                f"{system}: what the page showed and what it received agree on {error.compared - error.differ} of "
                f"{pluralize(error.compared, 'answer')} that can be compared"
                + (f" and differ on {error.differ}: see harvest show." if error.differ else ".")
            )
        if error.silent:
            why = Counter(verdict.why for verdict in found.verdicts.values() if verdict.word == "silent")
            reasons = ", ".join(f"{reason} x {count}" for reason, count in why.most_common(_MOST_REASONS))
            many = pluralize(error.silent, "answer")
            yield f"{system}: {many} cannot be compared with what the page received ({reasons})."
        if error.compared:
            yield (
                f"{system}: at most {error.misread} of {pluralize(error.compared, 'compared answer')} "
                f"({percent(error.share, 1)}) were misread, with {percent(error.level)} confidence, if a fault is seen "
                f"in at least {percent(SENSITIVITY)} of the conversations that have it; "
                f"{percent(error.share_of_all, 1)} of all answers, if each that cannot be compared counts as "
                "misread. Of a kind of fault that no comparison shows, nothing is known."
            )
        if found.judged.doubtful:
            yield (
                f"{system}: page and wire differ on most answers, so it may be the wire that is misunderstood. Look at "
                "some with harvest show."
            )
        for text, count in found.judged.unread:
            shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
            replies = pluralize(count, "reply")
            yield f"{system}: with {replies} came a text that is not in the answer, such as {shown!r}."
        if found.damaged:
            yield f"{system}: {pluralize(found.damaged, 'account')} of what the page received cannot be read."
