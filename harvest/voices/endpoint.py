"""A model behind an OpenAI-compatible API that words a user's turns.

The model is reached like a system under audit, and its errors are classified in the same way, but it is part of
Harvest's own machinery. Any failure of the model makes the attempt invalid as `endpoint-failed` (`EndpointError`). A
failure says nothing about the system and never becomes text. Requests are sent again up to `retries` times, since the
endpoint keeps no state.

The model's text goes to the system under audit. Therefore a secret of this audit or of a well-known form is removed
from a sample. The sample then gets the finish `secret`, which no user accepts (`simulators.llm.acceptance`).
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from harvest.drivers.openai import OpenAIDriver
from harvest.drivers.openai import Options as ModelOptions
from harvest.drivers.options import Url, VariableName, WireOptions
from harvest.drivers.received import error_code
from harvest.systems.delivery import deliver
from harvest.systems.driver import DriverError, Exhibit, NothingHeld, Reply, Surroundings, Unanswered
from harvest.systems.exposure import Exposure
from harvest.systems.limits import BUSY_TIMEOUT, BusyTracker, Gate, Limits
from harvest.systems.load import Load
from harvest.systems.toll import FREE, Toll
from recordings.secrets.redaction import Redactor
from simulators.llm.acceptance import OTHER_ROLE, SECRET, UNFINISHED
from simulators.outside import Prompt, Sample, SourceError
from simulators.reasons import ENDPOINT_FAILED
from topics.document import validation_error
from topics.errors import InputError

# The finish of words in the API's field for refusals.
REFUSED_FINISH = "refusal"
# The API's error code for a prompt that is too long for the model.
OVERFLOW_CODE = "context_length_exceeded"

_RESERVED_FIELDS = ("model", "messages", "n", "seed", "stream", "stream_options", "temperature", "top_p", "max_tokens")


def _check_extra(extra: dict[str, Any]) -> dict[str, Any]:
    for key in extra:
        if key in _RESERVED_FIELDS:
            raise validation_error(
                f"{key!r} cannot be given in `extra`, because it is an option of the endpoint or is set by Harvest"
            )
    return extra


class EndpointOptions(WireOptions):
    """Options of a model that words the turns of simulated users."""

    base_url: Url = Field(description="address of the API including its version: `https://api.openai.com/v1`")
    model: str = Field(min_length=1, description="the model's name, as the server knows it")
    api_key_env: VariableName | None = Field(
        None, description="environment variable with the key; by default no key is sent"
    )
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(None, description="sent if given")
    top_p: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="sent if given")
    max_tokens: int | None = Field(300, ge=1, description="of one sample; null: not sent")
    seed: bool = Field(True, description="send a seed with each sample; false for servers that refuse one")
    extra: Annotated[dict[str, Any], AfterValidator(_check_extra)] = Field(
        {}, description="further fields of the request, sent unchanged"
    )
    timeout: Annotated[float, Field(gt=0, le=86400)] = Field(60.0, description="seconds for a complete sample")
    retries: int = Field(2, ge=0, le=20, description="how often a request is sent again after a failure")
    retry_wait: Annotated[float, Field(ge=0, le=3600)] = Field(
        1.0, description="seconds before the first of them, doubling"
    )
    busy_timeout: Annotated[float, Field(gt=0, le=86400)] = Field(
        BUSY_TIMEOUT,
        description="seconds for which it may only say that it gets too many requests (429) before it is given up",
    )
    concurrency: int = Field(8, ge=1, le=1000, description="requests at the same time")


class EndpointError(DriverError, SourceError):
    """The endpoint gave no complete sample. The error is never `Denied`, which concerns the system under audit."""


class Endpoint:
    """One endpoint, to be closed when everything is played. `exposure` has everything it makes this machine do."""

    def __init__(
        self, name: str, options: EndpointOptions, surroundings: Surroundings, *, does: str = "words the user's turns"
    ) -> None:
        """Prepare the endpoint. Raises InputError if its key is not set. `surroundings` is the source of the key and
        has the secrets to redact. `does` is the purpose of the endpoint, for messages."""
        self.name, self._options, self._does = name, options, does
        self.renewed = partial(Endpoint, name, options, surroundings, does=does)
        wire = {key: getattr(options, key) for key in WireOptions.model_fields}
        asked = ModelOptions(base_url=options.base_url, model=options.model, api_key_env=options.api_key_env, **wire)
        self.exposure = Exposure.from_options(f"endpoint {name}", options)
        around = replace(surroundings, system=f"endpoint {name}", exposure=self.exposure)
        try:
            self._driver = OpenAIDriver(asked, around)
        except InputError as fault:  # drivers name a system, and this is not one
            what = fault.what.replace(f"system {around.system!r}", f"the endpoint {name!r}", 1)
            raise InputError(what, place=fault.place, allowed=fault.allowed, advice=fault.advice) from None
        self._secrets, self._redactor = surroundings.secrets, Redactor()
        self._limits = Limits(turn_timeout=options.timeout + 1, retries=options.retries, retry_wait=options.retry_wait)
        clock = surroundings.clock
        self._gate = Gate(0, clock, Load(options.concurrency, clock), BusyTracker(options.busy_timeout, clock))

    @property
    def concurrency(self) -> int:
        """The largest number of concurrent requests."""
        return self._options.concurrency

    @property
    def most_requests(self) -> int:
        """The largest number of requests for one sample, including retries."""
        return 1 + self._options.retries

    def report_waits(self, tell: Callable[[str, str], object]) -> None:
        """Call `tell` whenever Harvest waits because the endpoint gets too many requests. The arguments of `tell` are
        the endpoint's name and the time until which Harvest waits."""
        self._gate.busy.tell = partial(tell, f"the endpoint {self.name!r}")

    async def sample(self, prompt: Prompt, toll: Toll = FREE) -> Sample:
        """Return one sample. `toll` is paid for each request. Raises EndpointError and CapReached."""
        try:
            reply = await deliver(
                _Asking(self._driver, self._fields(prompt), prompt),
                "",
                stateful=False,
                limits=self._limits,
                gate=self._gate,
                seed=prompt.seed,
                toll=toll,
            )
        except DriverError as fault:
            raise self._make_failure(fault) from fault
        text = reply.turn.answer.text
        self._redactor.add(*self._secrets)  # by now all secrets of the audit are known
        kept = self._redactor.text(text)
        if kept != text:
            return Sample(kept, SECRET)
        return Sample(text, _unfit_finish(reply) or reply.turn.finish)

    async def close(self) -> None:
        await self._driver.close()

    def definition(self) -> dict[str, Any]:
        """Return the settings that determine the endpoint's text. A user with other settings is a different user."""
        kept = ("base_url", "model", "temperature", "top_p", "max_tokens", "seed", "extra")
        given = self._options.model_dump(mode="json", include=set(kept))
        return {key: given[key] for key in kept if given[key] not in (None, {})}

    def _fields(self, prompt: Prompt) -> dict[str, Any]:
        options = self._options
        fields = {
            **options.extra,
            "model": options.model,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_tokens": options.max_tokens,
            "seed": prompt.seed if options.seed else None,
        }
        return {name: value for name, value in fields.items() if value is not None or name in options.extra}

    def _make_failure(self, fault: DriverError) -> EndpointError:
        body = next((exhibit.data for exhibit in fault.exhibits if exhibit.name == "response"), b"")
        code = ""  # the API's name for the error
        with suppress(ValueError, RecursionError):
            code = error_code(json.loads(body))
        named = f" ({code})" if code and code not in str(fault).lower() else ""
        detail = f"the endpoint {self.name!r}, which {self._does}: {fault}{named}"
        exhibits = tuple(Exhibit(f"endpoint-{one.name}", one.media_type, one.data) for one in fault.exhibits)
        return EndpointError(ENDPOINT_FAILED, detail, exhibits=exhibits)


def _unfit_finish(reply: Reply) -> str:
    """Return "" if the reply is a complete message of the model, otherwise a finish that no user accepts. A null
    `finish_reason` means that the model has not finished. Small servers omit the field."""
    body = next((exhibit.data for exhibit in reply.exhibits if exhibit.name == "response"), b"")
    try:
        choice = json.loads(body)["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason", "")
        role = message.get("role", "assistant")
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # a stream, or words in another place
        return ""
    if message.get("refusal") and not message.get("content"):
        return REFUSED_FINISH
    return UNFINISHED if finish is None else "" if role in ("assistant", None) else OTHER_ROLE


class _Asking(NothingHeld):
    def __init__(self, driver: OpenAIDriver, fields: dict[str, Any], prompt: Prompt) -> None:
        self._driver, self._fields = driver, fields
        self._messages = [{"role": message.role, "content": message.text} for message in prompt.messages]

    async def say(self, text: str) -> Reply:
        reply = await self._driver.complete(self._fields, self._messages)
        if reply.turn.ended:
            raise Unanswered("system-ended", "the endpoint ended a conversation")
        return reply
