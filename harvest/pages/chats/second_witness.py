"""What the wire says of each turn of one conversation, for `pages/witness` to judge when the run is over."""

import json
import math

from harvest.pages.browser.recorder import Recorder
from harvest.pages.witness.account import Account, account_of
from harvest.pages.witness.judgement import Acquaintance
from harvest.pages.witness.opening import Leaf, opened
from harvest.pages.witness.strands import Heard
from harvest.systems.driver import Exhibit

EXHIBIT = "wire"


class SecondWitness:
    """Of one conversation. met: what is known of the site's wire, shared by its conversations."""

    def __init__(self, recorder: Recorder, met: Acquaintance) -> None:
        self._recorder, self._met = recorder, met
        self._heard = Heard()
        self._said, self._answer = "", ""
        self._since = self._read_at = -math.inf
        self._leaves: list[Leaf] = []
        self._before: Account | None = None

    def turn_begins(self) -> None:
        """The page is about to be given the next turn: what came up to now belongs to the turns before."""
        received = self._recorder.received
        later = opened(received, self._read_at)
        self._before = None
        if self._answer and later.leaves:
            whole = opened(received, self._since)
            self._before = account_of(whole, self._said, self._answer, self._heard, self._met.known)
        self._heard.add([*self._leaves, *later.leaves])
        self._recorder.forget(self._recorder.clock.monotonic())

    async def account(self, said: str, answer: str, since: float) -> Exhibit:
        """What came with this turn, beside the answer that was read. since: when it was sent."""
        await self._recorder.settled()
        self._said, self._answer, self._since = said, answer, since
        self._read_at = self._recorder.clock.monotonic()
        turn = opened(self._recorder.received, since)
        self._leaves = turn.leaves
        turn.capped = turn.capped or self._recorder.capped
        account = account_of(turn, said, answer, self._heard, self._met.known)
        self._met.meet(account)
        kept = account.with_before(self._before)
        return Exhibit(EXHIBIT, "application/json", json.dumps(kept.as_json(), ensure_ascii=False).encode())
