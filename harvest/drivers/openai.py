"""A driver for chat completions of any OpenAI-compatible server, complete or streamed. The server keeps no state. The
driver keeps each session's messages and sends all of them with every turn."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from harvest.drivers.completions import Completion
from harvest.drivers.file_shapes import COMPLETION_SHAPES, shaped_files
from harvest.drivers.history import History, Message, json_bytes
from harvest.drivers.look import Look
from harvest.drivers.options import THOUGHTS_HELP, Url, VariableName, WireOptions, certificate_files, sendable_secret
from harvest.drivers.received import Received, error_code
from harvest.drivers.reply_path import Paths, ReplyPath
from harvest.drivers.wire import Request, Wire
from harvest.systems.driver import Capabilities, DriverError, NothingHeld, Opening, Reply, Surroundings, Unanswered
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from recordings.log.own_loop import run_long_work
from topics.cut_text import Said
from topics.document import validation_error
from topics.errors import InputError
from topics.identity import derived_seed
from topics.sent_files import SentFile


def _check_extra(extra: dict[str, Any]) -> dict[str, Any]:
    for key in extra:
        if key in ("messages", "n", "stream_options") or (key in Options.model_fields and key != "extra"):
            raise validation_error(
                f"{key!r} cannot be given in `extra`: " + _EXTRA_ADVICE.get(key, f"use the option {key!r}")
            )
    return extra


_VERSION = re.compile(r"/v\d[^/]*/?$")
_UNVERSIONED = " (base_url does not end in a version, and most APIs need /v1 there)"
_EXTRA_ADVICE = {
    "messages": "they are the conversation",
    "n": "one reply is one turn; repeat by `trials`",
    "stream_options": "use the option 'stream_usage'",
}

Probability = Annotated[float, Field(ge=0, le=1)]


class Options(WireOptions):
    """Options of a model behind an OpenAI-compatible API."""

    base_url: Url = Field(
        description="address of the API including its version: `https://api.openai.com/v1`",
        examples=["https://api.openai.com/v1"],
    )
    model: str = Field(min_length=1, description="the model's name, as the server knows it", examples=["gpt-5-mini"])
    api_key_env: VariableName | None = Field(
        None, description="environment variable with the key (`OPENAI_API_KEY`); by default no key is sent"
    )
    stream: bool = Field(False, description="take the reply in pieces, and keep when each came")
    stream_usage: bool = Field(
        True, description="ask for token counts in a stream (`stream_options`); false for servers that refuse that"
    )
    system_prompt: Said | None = Field(None, description="a system message before each conversation")
    temperature: Annotated[float, Field(ge=0)] | None = Field(None, description="sent if given")
    top_p: Probability | None = Field(None, description="sent if given")
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        None, description="sent if given; servers that want `max_completion_tokens` get it by `extra`"
    )
    seed: int | Literal["trial"] | None = Field(
        None, description="sent if given: one number for all trials, or `trial` for one derived for each"
    )
    links: Paths = Field(
        (), description="paths of sources in addition to those found automatically: a path, or a list of paths"
    )
    thoughts_apart: bool = Field(True, description=THOUGHTS_HELP)
    extra: Annotated[dict[str, Any], AfterValidator(_check_extra)] = Field(
        {}, description="further fields of the request, sent unchanged"
    )


# Where `harvest probe` finds out that a server speaks this API.
LOOK = Look(path="/models", finds=("$.data[*].id",), fills={"model": "$.data[0].id"})
address = "{{ base_url }}/chat/completions"


class OpenAIDriver:
    """Driver for one model."""

    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        self._options = options
        self._authorization: dict[str, str] = {}
        if options.api_key_env is not None:
            header = any(name.lower() == "authorization" for name in options.headers)
            if header or (options.auth is not None and options.auth.header_set == "authorization"):
                other = "a header Authorization" if header else "auth, which sets the header Authorization"
                raise InputError(
                    f"system {surroundings.system!r} has both api_key_env and {other}",
                    advice="remove one of them",
                )
            self._authorization = {"Authorization": f"Bearer {sendable_secret(options.api_key_env, surroundings)}"}
        self._wire = Wire(options, surroundings)
        self._answered = False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            stateful=False, editable_history=True, streaming=self._options.stream, attaches=tuple(COMPLETION_SHAPES)
        )

    async def open(self, opening: Opening) -> "_Session":
        self._wire.ready()
        prompt = self._options.system_prompt
        before = [{"role": "system", "content": prompt}] if prompt is not None else []
        return _Session(self, self._fields(opening), History(opening.history, before))

    async def close(self) -> None:
        await self._wire.close()

    def _fields(self, opening: Opening) -> dict[str, Any]:
        options = self._options
        fields: dict[str, Any] = {
            **options.extra,
            "model": options.model,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_tokens": options.max_tokens,
            # Servers take a seed of 32 bits with a sign.
            "seed": derived_seed(opening.seed, "openai") % 2**31 if options.seed == "trial" else options.seed,
        }
        if options.stream:
            fields["stream"] = True
            fields["stream_options"] = {"include_usage": True} if options.stream_usage else None
        return {name: value for name, value in fields.items() if value is not None or name in options.extra}

    async def complete(self, fields: Mapping[str, Any], messages: list[Message]) -> Reply:
        """Return the reply to the last of `messages`. Raises DriverError if there is no reply."""
        completion = empty_completion(self._options)
        files = (one for message in messages for one in message.get("files", ()))
        said = sum(len(message["content"]) for message in messages) + sum(one.size for one in files)
        content = await run_long_work(
            said, lambda: json_bytes({**fields, "messages": [_with_parts(one) for one in messages]})
        )
        received = await self._wire.ask(
            Request(
                "POST",
                self._options.base_url.rstrip("/") + "/chat/completions",
                {
                    "Content-Type": "application/json",
                    "Accept": "text/event-stream" if self._options.stream else "application/json",
                    **self._authorization,
                },
                content,
            ),
            events=completion,
        )
        if received.status == 400 and error_code(received.json_or_none) == "content_filter":
            # Azure answers a filtered prompt with a status of 400; to a user that is a refusal, not a fault.
            return _make_reply(Answer(""), (), "content_filter", Completion(), received)
        unversioned = _VERSION.search(self._options.base_url) is None
        fault = received.refusal(
            answered=self._answered and received.status != 404, not_found=_UNVERSIONED if unversioned else ""
        )
        if fault is not None:
            raise fault
        reply = await received.read_in_time(self._options.timeout, lambda: _read_reply(completion, received))
        self._answered = True
        return reply


class _Session(NothingHeld):
    def __init__(self, driver: OpenAIDriver, fields: Mapping[str, Any], history: History) -> None:
        self._driver, self._fields, self._history = driver, fields, history

    async def say(self, text: str) -> Reply:
        return await self.attach(text, ())

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        """Send the turn with files, which then go with each further turn as the rest of the history does."""
        history = self._history
        reply = await history.ask(lambda: self._driver.complete(self._fields, history.messages(text, files)))
        history.add(text, reply.turn.answer, files)
        return reply


def _with_parts(message: Message) -> Message:
    """Return the message as it is sent, which is in parts only if it has files."""
    if "files" not in message:
        return message
    parts = [*shaped_files(message["files"], COMPLETION_SHAPES), {"type": "text", "text": message["content"]}]
    return {"role": message["role"], "content": parts}


def empty_completion(options: Options) -> Completion:
    """Return an empty completion with the settings from the options."""
    return Completion(tuple(map(ReplyPath.parse, options.links)), thoughts_apart=options.thoughts_apart)


def _read_reply(completion: Completion, received: Received) -> Reply:
    try:
        if not completion.is_complete:
            completion.read(received)
        answer, notes = completion.answer()
    except DriverError as unread:
        raise received.fault(Unanswered, unread.reason, unread.detail, partial=completion.partial or None) from None
    return _make_reply(answer, notes, completion.finish, completion, received)


def _make_reply(
    answer: Answer, notes: tuple[str, ...], finish: str, completion: Completion, received: Received
) -> Reply:
    watch = received.watch
    turn = SystemTurn(
        answer,
        asked_at=watch.asked_at,
        first_seconds=watch.first_seconds,
        seconds=watch.seconds,
        finish=finish,
        tokens=completion.tokens,
        pieces=watch.pieces,
        model=completion.model,
        notes=notes,
    )
    return Reply(turn, received.exhibits)


def build(options: Options, surroundings: Surroundings) -> OpenAIDriver:
    """Build the driver. Raises InputError if the environment variable of the key is not set."""
    return OpenAIDriver(options, surroundings)


files = certificate_files
