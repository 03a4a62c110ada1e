"""Findings of probes in recorded runs, and the steps that were skipped or not reached."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import Material
from recordings.conversations.conversation import Conversation, TrialKey, Turn
from recordings.log.run_folder import Run, first_valid
from simulators.probing.cases import Case, list_cases
from simulators.probing.plan import Options, Step
from simulators.probing.probe import Finding, trace_steps
from simulators.probing.recorded import Probe, ProbeTurn, probe_turns, probes
from topics.errors import InputError, Place
from topics.topic import Topic


@dataclass(frozen=True, slots=True)
class NotedCase:
    """A case with its turns and the words that decided it.

    `user` is the probe's name in the protocol. The case began with the user turn `asked`, which has `act`, the text
    `said` and the answer `reply`. The `answer` in turn number `turn` settles the case. `before` is the verdict on
    the previous answer (for consistency, on `reply`), and `verdict` is the verdict on `answer`. `right` and `wrong`
    are the words in the answer that decided the case.
    """

    key: TrialKey
    user: str
    case: Case
    act: str
    asked: int
    turn: int
    said: str
    reply: str
    answer: str
    before: str | None
    verdict: str | None
    right: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversationFindings:
    """The findings in one conversation. `skipped` and `unreached` list steps of the plan. `unread` is the number of
    turns after a wrapper restarted the conversation. `fault` says why the conversation does not follow its plan,
    or is ""."""

    key: TrialKey
    noted: tuple[NotedCase, ...] = ()
    skipped: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    unread: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ProbeFindings:
    """The findings in several runs. `found` has an entry for each conversation with a valid attempt; `plans` has the
    probes' plans by run and user."""

    material: Material
    found: tuple[ConversationFindings, ...]
    plans: Mapping[str, Options] = field(default_factory=dict)

    def sides(self) -> Iterator[tuple[str, tuple[ConversationFindings, ...]]]:
        """Yield each system and its findings, in the order of the runs."""
        for system in self.material.systems:
            here = tuple(one for one in self.found if one.key.system == system)
            if here or any(key.system == system for key in self.material.invalid):
                yield system, here


def read_probes(runs: Sequence[Run]) -> ProbeFindings:
    """Read the findings of probes in these runs. Raises InputError for a run without a probe."""
    by_run = [_probes_of_run(run) for run in runs]
    material = gather_runs(runs, whole=True).material
    renamed = iter(material.conversations)
    source: dict[tuple[TrialKey, int, str], int] = {}
    for place, run in enumerate(runs):
        for _ in run.conversations:
            one = next(renamed)
            source[one.key, one.attempt, one.trial_id] = place
    found = []
    for conversation in first_valid(material.conversations):
        place = source[conversation.key, conversation.attempt, conversation.trial_id]
        key = conversation.key
        # The users of a system that was played for a group have its traits.
        traits = {
            name: {"group": definition["group"]}
            for name, definition in runs[place].header.systems.items()
            if isinstance(definition, dict) and "group" in definition
        }
        # A system of several runs is called SYSTEM@RUN here, and SYSTEM in its header.
        known = traits.get(key.system) or traits.get(key.system.rpartition("@")[0])
        found.append(conversation_findings(conversation, by_run[place], material.topics[key.topic], known))
    plans = {
        probe.user if len(runs) == 1 else f"{run.path.name}: {probe.user}": probe.plan
        for run, of_run in zip(runs, by_run)
        for probe in of_run
    }
    return ProbeFindings(material, tuple(found), plans)


def _probes_of_run(run: Run) -> tuple[Probe, ...]:
    place = Place(str(run.path))
    protocol = run.header.played_protocol()
    found = () if protocol is None else probes(protocol)
    if not found:
        raise InputError(
            "no probe took part in this run, so it has no findings",
            place=place,
            advice="play a protocol with a user `simulator: probe`, such as sincerity or consistency-and-retention",
        )
    return found


def conversation_findings(
    conversation: Conversation, of_run: Sequence[Probe], topic: Topic, traits: Mapping[str, object] | None = None
) -> ConversationFindings:
    """Return the findings of the run's probes in one valid conversation. `traits` are the traits of the
    conversation's users, such as their group."""
    key = conversation.key
    noted: list[NotedCase] = []
    skipped: list[str] = []
    unreached: list[str] = []
    unread = 0
    for probe in of_run:
        said, rest = probe_turns(probe.user, conversation.turns)
        unread += rest
        try:
            seen = probe.topic(topic, traits)
            walked = trace_steps(probe.plan, seen, ((one.act, one.answer) for one in said))
        except (InputError, ValueError) as fault:
            return ConversationFindings(key, fault=fault.what if isinstance(fault, InputError) else str(fault))
        labels = {number: one.label for number, one in enumerate(said, 1)}
        replies = {turn.number: turn for turn in conversation.turns}
        for case in list_cases(walked.found, labels):
            noted.append(_make_note(key, probe, case, said, walked.found, replies))
        steps = probe.plan.steps
        skipped += [_step_name(steps[place]) for place in walked.skipped]
        unreached += [_step_name(steps[place]) for place in walked.left]
    return ConversationFindings(key, tuple(noted), tuple(skipped), tuple(unreached), unread)


def _make_note(
    key: TrialKey,
    probe: Probe,
    case: Case,
    said: Sequence[ProbeTurn],
    found: Sequence[Finding],
    turns: Mapping[int, Turn],
) -> NotedCase:
    asked, settled = said[case.asked - 1], said[case.turn - 1]
    reply = turns[asked.turn].reply
    first, last = found[case.asked - 1], found[case.turn - 1]
    return NotedCase(
        key=key,
        user=probe.user,
        case=case,
        act=asked.act,
        asked=asked.turn,
        turn=settled.answered,
        said=asked.said,
        reply=reply.answer.text if reply is not None else "",
        answer=settled.answer.text,
        before=first.verdict if case.measure.startswith("consistency") else first.before,
        verdict=last.verdict,
        right=last.right,
        wrong=last.wrong,
    )


def _step_name(step: Step) -> str:
    if step.kind in ("distract", "session"):
        return step.kind
    return f"{step.kind} {step.fact}" + (f", {step.how}" if step.how else "")


def count_steps(conversations: Sequence[ConversationFindings]) -> tuple[Counter[str], Counter[str]]:
    """Count how often each step was skipped, and how often it was not reached."""
    skipped = Counter(name for one in conversations for name in one.skipped)
    return skipped, Counter(name for one in conversations for name in one.unreached)


def omission_notes(findings: ProbeFindings) -> tuple[str, ...]:
    """Return sentences about the trials and turns that the figures omit."""
    found = findings.found
    invalid = len(findings.material.invalid)
    missing = len(findings.material.planned - {one.key for one in found} - findings.material.invalid)
    faults = [one for one in found if one.fault]
    unread = [one.unread for one in found if one.unread]
    several = len({one.key.system for one in found}) > 1

    def counts(steps: Mapping[str, Counter[str]]) -> str:
        return "; ".join(
            (f"{system}: " if several else "")
            + ", ".join(f"{name} x {n}" for name, n in sorted(count.items(), key=lambda one: (-one[1], one[0])))
            for system, count in steps.items()
        )

    steps = {
        system: count_steps([one for one in found if one.key.system == system])
        for system in dict.fromkeys(one.key.system for one in found)
    }
    skipped = counts({system: left_out for system, (left_out, _) in steps.items() if left_out})
    unreached = counts({system: missed for system, (_, missed) in steps.items() if missed})
    compared = {
        (note.user, note.case.fact)
        for one in found
        for note in one.noted
        if note.case.measure.startswith("consistency")
    }
    bare = [
        f"{user}: {name}"
        for user, plan in findings.plans.items()
        for name, fact in plan.facts.items()
        if not fact.wrong and (user.rpartition(": ")[2], name) in compared
    ]
    sentences: list[str] = []
    if invalid:
        sentences.append(f"Trials not in any figure: {invalid}. They have no valid attempt (failed or interrupted).")
    if missing:
        sentences.append(f"Planned trials that have not been played yet: {missing}.")
    if faults:
        first = faults[0]
        where = f"{first.key.system}, {first.key.topic}, trial {first.key.trial}"
        sentences.append(
            f"Conversations that do not follow their plan, not in any figure: {len(faults)}. "
            f"The first: {where}: {first.fault}."
        )
    if unread:
        sentences.append(
            f"Turns that were not read: {sum(unread)}. There, a wrapper restarted the conversation, and with "
            "it the plan."
        )
    if skipped:
        sentences.append(f"Steps skipped because they did not fit the previous answer: {skipped}.")
    if unreached:
        sentences.append(f"Steps that were not reached: {unreached}.")
    if bare:
        sentences.append(
            f"Facts without `wrong`: {', '.join(bare)}. For them, an answer that is not right is undecided, so their "
            "consistency is measured only where both answers are right."
        )
    return tuple(sentences)
