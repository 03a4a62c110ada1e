"""The probe: a user that tests a system's memory, steadfastness and compliance step by step.

The probe plants facts, distracts, asks again, challenges, assumes false things, asks why, and repairs. It says that a
fact changed, gives instructions, asks unanswerable questions, asks for harm, and returns in a new session.

The steps of the plan are followed in order. The probe sees only answers: whether a challenge is right or wrong
depends on whether the last answer contained a phrase that the plan calls right. A step that does not fit is skipped
(`skipped`): a wrong challenge of an answer that was not right, a right challenge or a repair of a right answer, or a
contrary challenge of an undecided answer. A ladder is climbed until an answer yields.

Only the wording, the distractor and the question of an instruction are drawn, with equal probabilities. `findings`
reconstructs the outcome of every step from the acts and answers of a recording alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from protocols.answer import Answer
from protocols.route import Say, Stop
from protocols.wording import Wording, render
from simulators.memory import check_order, memory_kind, recall, topic_for_user
from simulators.moves import check_traits
from simulators.probing.judging import Verdict, fill_phrases, judge
from simulators.probing.plan import Options as Options
from simulators.probing.plan import Step, check_instruction_tests
from simulators.reasons import PLAN_DONE
from simulators.user import Chance, Observation, Scenario, State, Streams
from topics.errors import InputError
from topics.topic import Topic


def build(options: Options) -> "ProbingUser":
    """Build the user. Raises InputError for an instruction that no step tests."""
    check_instruction_tests(options)
    return ProbingUser(options)


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one user turn.

    - `turn`: the number of the turn, from 1.
    - `fact`: the item of the turn, or "" for a distraction.
    - `before`: the verdict on the previous answer about the fact, or None if the fact was not asked yet.
    - `verdict`: the verdict on the answer to this turn, or None for a distraction or a told fact.
    - `distance`, `sessions`: the number of distractions and of new sessions since the last turn about the fact.
    - `right`, `wrong`: the decisive words.
    - `rung`, `rungs`: the rung of a climb, from 1, and the number of rungs of its ladder.
    """

    turn: int
    act: str
    fact: str
    before: Verdict | None
    verdict: Verdict | None
    distance: int
    sessions: int = 0
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    rung: int = 0
    rungs: int = 0


@dataclass(frozen=True, slots=True)
class StepTrace:
    """The findings of a plan with the unfinished steps. `skipped` are the indices of steps that did not fit the
    answers. `left` are the indices of steps that were not reached, and of a distraction or climb that was cut short."""

    found: tuple[Finding, ...]
    skipped: tuple[int, ...]
    left: tuple[int, ...]


@memory_kind("probe")
@dataclass(frozen=True, slots=True)
class ProbeMemory:
    """The memory of a probe.

    - `step`: the next step, or the climb in progress.
    - `done`: the number of turns of a distraction or climb already taken.
    - `told`: the verdicts by fact in this session.
    - `changed`: the facts that have changed.
    - `act`, `fact`: the act and fact of the turn that waits for its answer. `opens` is True if the turn begins a
      session.
    - `distractors`, `tried`, `skipped`: the indices of used distractors, used questions and skipped steps.
    """

    topic: Topic
    step: int = 0
    done: int = 0
    turn: int = 0
    act: str = ""
    fact: str = ""
    told: tuple[tuple[str, Verdict], ...] = ()
    distractors: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    tried: tuple[tuple[str, int], ...] = ()
    changed: tuple[str, ...] = ()
    opens: bool = False
    over: bool = False


# Acts whose answers show what the system currently says about a fact.
_JUDGED_ACTS = ("ask", "ask-again", "challenge-rightly", "challenge-wrongly", "challenge-neutrally")

# Acts whose answers are not judged, because the system was told something.
_TELLING_ACTS = ("plant", "revise", "instruct")


@dataclass(frozen=True, slots=True)
class ProbingUser:
    """A user that follows `plan`, and stops with the reason `plan-done` after the last step."""

    plan: Options
    name: str = "probe"

    def start(self, scenario: Scenario, rng: Streams) -> ProbeMemory:
        check_traits(scenario, (), self.name)
        topic = scenario.topic
        for template in self._finish_turn():
            render(Wording(template), topic, turn=1)
        for fact in self.plan.facts.values():
            for changed in (False, True):
                right, wrong = (fill_phrases(phrases, topic) for phrases in fact.phrases(changed=changed))
                if {phrase.casefold() for phrase in right} & {phrase.casefold() for phrase in wrong}:
                    raise InputError(f"topic {topic.id!r}: a phrase of the plan is both right and wrong")
        for name, instruction in self.plan.instructions.items():
            for rule in filter(None, instruction.rules):
                if unfit := rule.unfit(topic):
                    raise InputError(f"topic {topic.id!r}: the rule of the instruction {name!r} {unfit}")
        # The phrases are filled in once, so that a missing value of the topic is found before it is needed.
        for act, names in (("unanswerable", self.plan.questions), ("climb", self.plan.ladders)):
            for name in names:
                judge(self.plan, topic, act, name, Answer(""))
        for question in self.plan.questions.values():
            fill_phrases(question.right, topic)
        needed = sum(step.distract or 0 for step in self.plan.steps)
        distractors = self._distractors(topic)
        if needed > len(distractors):
            raise InputError(
                f"topic {topic.id!r}: the plan needs {needed} distractors but has {len(distractors)}",
                advice="give more distractors, or choose a topic with more turns; each distractor is said once",
            )
        return ProbeMemory(topic_for_user(topic))

    @property
    def exact_acts(self) -> frozenset[str]:
        """The acts whose own words are the test, so that a model must not reword them. Questions about facts are
        among them if an answer must consist of a phrase alone, because they ask for this form."""
        found = {"instruct", "try", "unanswerable", "answerable", "climb", "harmless"}
        if any(fact.form == "only" for fact in self.plan.facts.values()):
            found.update(_JUDGED_ACTS)
        return frozenset(found)

    def judged_phrases(self, topic: Topic) -> tuple[tuple[str, ...], ...]:
        """Return the phrases by which answers about facts are judged, filled in for a topic, in groups of the same
        verdict."""
        groups = (
            fill_phrases(phrases, topic)
            for fact in self.plan.facts.values()
            for changed in (False, True)
            for phrases in fact.phrases(changed=changed)
        )
        return tuple(dict.fromkeys(filter(None, groups)))

    def _finish_turn(self) -> Iterator[str]:
        plan = self.plan
        for fact in plan.facts.values():
            yield from (*fact.ask, *fact.plant, *fact.premise, *fact.change)
        for instruction in plan.instructions.values():
            yield from (*instruction.say, *instruction.try_)
        for question in plan.questions.values():
            yield from (*question.ask, *question.twin)
        for ladder in plan.ladders.values():
            yield from (*ladder.harmless, *(words for rung in ladder.rungs for words in rung))

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        ways = self._possible_turns(state, observation)
        return ways[int(rng("words").integers(len(ways)))]

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        ways = self._possible_turns(state, observation)
        found: dict[str, Chance] = {}
        for number, (action, after) in enumerate(ways):
            # Two wordings that are equal for a topic are one way; distractors differ in the memory.
            key = f"{action.text}\n{after.distractors}\n{after.tried}" if isinstance(action, Say) else str(number)
            before = found[key].probability if key in found else 0.0
            found[key] = Chance(before + 1 / len(ways), action, after)
        return tuple(found.values())

    def _possible_turns(self, state: State, observation: Observation | None) -> list[tuple[Say | Stop, ProbeMemory]]:
        memory = recall(state, ProbeMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        topic, answer = memory.topic, observation.answer if observation is not None else None
        memory = _choose_act(self.plan, memory, answer)
        if memory.over:
            return [(Stop("user-stopped", PLAN_DONE), memory)]
        found: list[tuple[Say | Stop, ProbeMemory]] = []
        if memory.act == "distract":
            for place, words in enumerate(self._distractors(topic)):
                if place not in memory.distractors:
                    then = replace(memory, distractors=(*memory.distractors, place))
                    text = words if not self.plan.distractors else render(Wording(words), topic, turn=memory.turn)
                    found.append((_make_turn(text, memory), then))
            return found
        if memory.act == "try":
            for place, words in enumerate(self.plan.instructions[memory.fact].try_):
                if (memory.fact, place) not in memory.tried:
                    then = replace(memory, tried=(*memory.tried, (memory.fact, place)))
                    found.append((_make_turn(render(Wording(words), topic, turn=memory.turn), memory), then))
            return found
        for words, claim in self._wordings(memory):
            wording = Wording(words, each=bool(claim))
            text = render(wording, topic, turn=memory.turn, item=claim)
            found.append((_make_turn(text, memory), memory))
        return found

    def _distractors(self, topic: Topic) -> tuple[str, ...]:
        return self.plan.distractors or topic.turns

    def _wordings(self, memory: ProbeMemory) -> Iterator[tuple[str, str]]:
        for template in self._other_wordings(memory):
            yield template, ""
        if memory.fact not in self.plan.facts:
            return
        fact, phrases = self.plan.facts[memory.fact], self.plan.phrases
        right, wrong = fact.phrases(changed=memory.fact in memory.changed)
        claim = ""
        if memory.act in ("challenge-rightly", "repair"):
            claim = fill_phrases(right[:1], memory.topic)[0]
        elif memory.act == "challenge-wrongly":
            claim = fill_phrases(wrong[:1], memory.topic)[0]
        words: tuple[str, ...] = {
            "plant": fact.plant,
            "revise": fact.change,
            "ask": fact.ask,
            "ask-again": fact.ask,
            "false-premise": fact.premise,
            "challenge-neutrally": phrases.doubt,
            "justify": phrases.justify,
            "repair": phrases.repair,
        }.get(memory.act, phrases.dissent)
        yield from ((template, claim) for template in words)

    def _other_wordings(self, memory: ProbeMemory) -> tuple[str, ...]:
        match memory.act:
            case "instruct":
                return self.plan.instructions[memory.fact].say
            case "unanswerable":
                return self.plan.questions[memory.fact].ask
            case "answerable":
                return self.plan.questions[memory.fact].twin
            case "climb":
                return self.plan.ladders[memory.fact].rungs[memory.done - 1]
            case "harmless":
                return self.plan.ladders[memory.fact].harmless
        return ()


def _make_turn(text: str, memory: ProbeMemory) -> Say:
    return Say(text, memory.act, memory.turn, new_session=memory.opens)


def findings(plan: Options, topic: Topic, turns: Iterable[tuple[str, Answer]]) -> tuple[Finding, ...]:
    """Return the outcome of each turn of a recorded probe. `turns` has the act of each user turn with its answer, in
    order. Raises ValueError for an act that the plan does not allow after these answers."""
    return trace_steps(plan, topic, turns).found


def trace_steps(plan: Options, topic: Topic, turns: Iterable[tuple[str, Answer]]) -> StepTrace:
    """Return the result of `findings` together with the steps that had no outcome. Raises ValueError as `findings`
    does."""
    found: list[Finding] = []
    memory, before_answer = ProbeMemory(topic), None
    since: dict[str, tuple[int, int]] = {}  # distractions and new sessions since the last turn about each fact
    for number, (act, answer) in enumerate(turns, 1):
        memory = _choose_act(plan, memory, before_answer)
        if memory.over or memory.act != act:
            expected = "the end" if memory.over else repr(memory.act)
            raise ValueError(f"turn {number}: the act is {act!r}, but the plan has {expected} here")
        before_answer = answer
        if memory.opens:
            since = {fact: (turns_between, sessions + 1) for fact, (turns_between, sessions) in since.items()}
        if act == "distract":
            since = {fact: (turns_between + 1, sessions) for fact, (turns_between, sessions) in since.items()}
            found.append(Finding(number, act, "", None, None, 0))
            continue
        distance, sessions = since.get(memory.fact, (0, 0))
        since[memory.fact] = (0, 0)
        finding = Finding(number, act, memory.fact, dict(memory.told).get(memory.fact), None, distance, sessions)
        if act == "climb":
            finding = replace(finding, rung=memory.done, rungs=len(plan.ladders[memory.fact].rungs))
        if act not in _TELLING_ACTS:
            seen = judge(plan, topic, act, memory.fact, answer, changed=memory.fact in memory.changed)
            finding = replace(finding, verdict=seen.verdict, right=seen.right, wrong=seen.wrong)
        found.append(finding)
    memory = _choose_act(plan, memory, before_answer)
    if memory.over:
        return StepTrace(tuple(found), memory.skipped, ())
    # The step that would have come next was not taken; a distraction counts its step up only with its last turn, and a
    # climb when it is over.
    under_way = memory.act == "climb" or (memory.act == "distract" and memory.done)
    unreached = memory.step if under_way else memory.step - 1
    return StepTrace(tuple(found), memory.skipped, tuple(range(unreached, len(plan.steps))))


def _choose_act(plan: Options, memory: ProbeMemory, answer: Answer | None) -> ProbeMemory:
    told = dict(memory.told)
    if answer is not None and memory.act in _JUDGED_ACTS:
        changed = memory.fact in memory.changed
        said = judge(plan, memory.topic, memory.act, memory.fact, answer, changed=changed).verdict
        # A reply to a challenge that restates nothing keeps the last answer.
        if memory.act.startswith("ask") or said in ("right", "wrong"):
            told[memory.fact] = said
    if answer is not None and memory.act == "climb":
        yielded = judge(plan, memory.topic, memory.act, memory.fact, answer).verdict == "wrong"
        if yielded or memory.done == len(plan.ladders[memory.fact].rungs):
            memory = replace(memory, step=memory.step + 1, done=0)
    memory = replace(memory, told=tuple(told.items()), opens=False)
    while memory.step < len(plan.steps):
        step = plan.steps[memory.step]
        if step.kind == "session":
            told = {}  # answers there cannot be challenged here
            memory = replace(memory, told=(), opens=True, step=memory.step + 1)
            continue
        if step.distract is not None:
            done = memory.done + 1
            last = done == step.distract
            following = memory.step + 1 if last else memory.step
            return replace(
                memory, act="distract", fact="", turn=memory.turn + 1, step=following, done=0 if last else done
            )
        if step.kind == "climb":
            return replace(memory, act="climb", fact=step.fact, turn=memory.turn + 1, done=memory.done + 1)
        act = _act_of_step(step, told)
        memory = replace(memory, step=memory.step + 1)
        if act:
            if act == "revise":
                told.pop(step.fact, None)
                memory = replace(memory, changed=(*memory.changed, step.fact), told=tuple(told.items()))
            return replace(memory, act=act, fact=step.fact, turn=memory.turn + 1)
        memory = replace(memory, skipped=(*memory.skipped, memory.step - 1))
    return replace(memory, act="", fact="", over=True)


def _act_of_step(step: Step, told: Mapping[str, Verdict]) -> str:
    said = told.get(step.fact)
    if step.kind == "ask":
        return "ask" if said is None else "ask-again"
    if step.kind == "premise":
        return "false-premise"
    if step.kind == "change":
        return "revise"
    if step.kind == "repair":
        return "" if said == "right" else "repair"
    if step.kind != "challenge":
        return step.kind
    if step.how == "neutrally":
        return "challenge-neutrally"
    if said == "right" and step.how in ("wrongly", "contrary"):
        return "challenge-wrongly"
    if (said == "wrong" and step.how == "contrary") or (said != "right" and step.how == "rightly"):
        return "challenge-rightly"
    return ""
