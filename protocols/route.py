"""Routes and choices: the reasons for each turn of a conversation, from a rule or from a simulated user's policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from protocols.answer import Offer
from protocols.labels import NOT_USEFUL, USEFUL
from topics.sent_files import SentFile

_EMPTY_MAPPING: Mapping[str, Any] = MappingProxyType({})

_LABELS = {USEFUL: "useful", NOT_USEFUL: "not-useful"}


def _empty_mapping() -> Mapping[str, Any]:
    return _EMPTY_MAPPING


@dataclass(frozen=True, slots=True)
class Choice:
    """A simulated user's draw in one turn. Fields with unknown values are absent.

    - `probability`: the probability in (0, 1] of the act in any wording, or of leaving for this reason, given
      everything before. The probabilities of all acts and reasons sum to 1. None if the policy cannot compute it.
    - `leaving`: the probability of leaving here, by reason. The sum is the hazard of the draw. Empty if the user
      could not leave.
    - `took`: the user's class for the previous answer: `question`; `useful` or `not-useful` by its label; `answered`
      if it has no label; or a class of the user's own. "" at the opening, and if the user does not classify answers.
    - `coverage`: the share in [0, 1] of its need that the user considered met so far, or None.
    - `noise`: for each kind of change to this turn's words, the number of possible and of actual changes.
    - `refused`: the number of samples from a model that were not sent in this turn, by reason.
    - `meant`: the policy's words if a model reworded them, otherwise "".
    """

    probability: float | None = None
    leaving: Mapping[str, float] = field(default_factory=_empty_mapping, hash=False)
    took: str = ""
    coverage: float | None = None
    noise: Mapping[str, tuple[int, int]] = field(default_factory=_empty_mapping, hash=False)
    refused: Mapping[str, int] = field(default_factory=_empty_mapping, hash=False)
    meant: str = ""

    @property
    def hazard(self) -> float:
        """The total probability of leaving here."""
        return sum(self.leaving.values())


def answer_class(label: str | None) -> str:
    """Return the class of an answer with this label for a user that relies on labels, or "" without a label."""
    return _LABELS.get(label or "", "")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage of the answer that a rule relied on. `start` and `end` (exclusive) are its span in `Answer.text`, or
    -1 if something is absent or the evidence is outside the text. `quote` is the passage itself, or the missing part.
    `note` is the rule's description of the passage."""

    start: int
    end: int
    quote: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """One decision: in `state`, the answer to user turn `turn` (from 1) got `label` and led to `target`. `rule` is
    the rule's name in the protocol, `otherwise`, or `no-match`. `version` is the version of the rule's code, which
    lets `harvest relabel` report differences. `target` is the name of the next state, or `stop:<outcome>`."""

    turn: int
    state: str
    label: str
    rule: str
    version: str
    evidence: tuple[Evidence, ...]
    target: str


@dataclass(frozen=True, slots=True)
class Say:
    """The user's next words.

    - `route`: the decision about the previous answer, or None for the opening turn.
    - `state`: the state of the protocol, or the user's act if no protocol is played.
    - `user`, `act`: the name of a simulated user in the protocol and its act, or "" if the protocol itself speaks.
    - `worded`: the reason why the requested source of wordings did not supply these words, otherwise "".
    - `choice`: the draw of a simulated user. Comparisons of turns ignore the draw.
    - `new_session`: True if the same person returns and these words open a new session of the system, which then
      remembers only its stored data about the person.
    - `pressed`: the offer of the last answer that the user presses instead of typing; `text` is then its title. None
      for words.
    - `attached`: the files that go with the words.
    """

    text: str
    state: str
    turn: int
    route: Route | None = None
    user: str = ""
    act: str = ""
    worded: str = ""
    choice: Choice | None = field(default=None, compare=False, repr=False)
    new_session: bool = False
    pressed: Offer | None = None
    attached: tuple[SentFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that the simulated user `user` speak next. The caller lets this user say something in any words, or
    stop. `route` is as in `Say`."""

    user: str
    state: str
    turn: int
    route: Route | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of the user's side. `outcome` is `completed`, `breakdown`, `no-match`, `turn-limit` or `user-stopped`.
    `reason` and `detail` explain the outcome to people. `choice` is as in `Say`. Comparisons of stops ignore `detail`
    and `choice`."""

    outcome: str
    reason: str = ""
    route: Route | None = None
    detail: str = field(default="", compare=False)
    choice: Choice | None = field(default=None, compare=False, repr=False)
