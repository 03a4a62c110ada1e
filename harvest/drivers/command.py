"""A driver for programs with standard input and output. Each conversation, or each turn, gets its own process."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harvest.drivers.file_shapes import EVIDENCE_SHAPES, PROGRAM_SHAPES, shaped_files, with_shaped_files
from harvest.drivers.history import History, json_bytes
from harvest.drivers.options import THOUGHTS_HELP, Seconds, Text, resolve_texts
from harvest.drivers.process import Program, find_program, program_environment
from harvest.drivers.program_output import EndMark, decode_leniently, json_turn, text_turn
from harvest.drivers.received import excerpt
from harvest.systems.driver import (
    Capabilities,
    DriverError,
    Exhibit,
    NothingHeld,
    Opening,
    Reply,
    Session,
    Surroundings,
    Unanswered,
)
from harvest.systems.exposure import Program as Started
from harvest.systems.timing import Clock, Stopwatch
from protocols.answer import Answer, Exchange, Offer
from recordings.conversations.answer_parts import offer_row
from recordings.log.own_loop import run_long_work
from topics.document import StrictModel, validation_error
from topics.sent_files import SentFile

_LINE_BREAK = b"\n"
_EXIT_SECONDS = 2.0  # seconds between the end of its output and the end of the program

_FLUSH_HINT = (
    ". It had written nothing: programs keep what they write to a pipe until there is much of it, so let it flush each"
    " reply (in Python: print(..., flush=True), or python -u)"
)


class Options(StrictModel):
    """Options of a program. The program inherits only a few environment variables, such as PATH, HOME and LANG."""

    argv: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(Started)] = Field(
        description="the program and its arguments, as a list; no shell reads them. A path starts at the audit file"
    )
    mode: Literal["lines", "json", "once"] = Field(
        "lines", description="`lines`, `json`: one process for each session; `once`: one for each turn"
    )
    end: str | None = Field(None, description="mode lines: the line that ends each reply, and is not part of it")
    prompt: str | None = Field(
        None, description="mode lines: what the program writes, at the start of a line, when it waits for the user"
    )
    greeting: bool = Field(
        False, description="the program speaks first: in mode json an object as for a reply, in mode lines up to `end`"
    )
    line_break: str = Field(" ", description="mode lines: replaces line breaks within a user turn")
    input: Literal["json", "text"] = Field(
        "json", description="mode once: `json` gives {text, history} on standard input, `text` the user turn alone"
    )
    files: bool = Field(
        False, description="in JSON: true if the program takes `files` of a turn, a list of {name, type, data (base64)}"
    )
    thoughts_apart: bool = Field(True, description=THOUGHTS_HELP)
    env: dict[str, Text] = Field({}, description="environment variables to set; a value is text or `{env: NAME}`")
    timeout: Seconds = Field(60.0, description="seconds for a complete turn; then the program is killed")
    start_timeout: Seconds = Field(60.0, description="seconds until the first prompt or greeting")
    max_reply: int = Field(8 * 2**20, ge=1, description="bytes of a reply; a longer one is a fault (`too-large`)")

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if self.mode != "lines" and (self.end is not None or self.prompt is not None):
            raise validation_error(f"`end` and `prompt` are for mode: lines, not for mode: {self.mode}")
        if self.end is not None and self.prompt is not None:
            raise validation_error("`end` and `prompt` cannot both mark the end of a reply: remove one of them")
        if self.end is not None and ("\n" in self.end or not self.end):
            raise validation_error("`end` must be one line that is not empty")
        if self.prompt == "":
            raise validation_error("`prompt` must not be empty")
        if self.greeting and self.mode == "lines" and self.end is None:
            raise validation_error(
                "`greeting` needs `end`, the line that ends the greeting (with `prompt`, every greeting is read)"
            )
        if self.greeting and self.mode == "once":
            raise validation_error("a program that is started for each turn has no `greeting`")
        if self.files and not self.takes_json:
            raise validation_error("`files` needs JSON as the program's input: mode: json, or mode: once")
        if "\n" in self.line_break or "\r" in self.line_break:
            raise validation_error(
                "line_break must not contain a line break: the program would read it as the end of the turn"
            )
        return self

    @property
    def takes_json(self) -> bool:
        return self.mode == "json" or (self.mode == "once" and self.input == "json")


class CommandDriver:
    """Driver that starts one program for each session or turn."""

    def __init__(self, options: Options, surroundings: Surroundings) -> None:
        self._options, self._folder, self.clock = options, surroundings.folder, surroundings.clock
        self._environment = program_environment(resolve_texts(options.env, surroundings), surroundings.environment)
        self._running: set[_ProgramSession] = set()

    @property
    def capabilities(self) -> Capabilities:
        once = self._options.mode == "once"
        return Capabilities(
            stateful=not once,
            editable_history=once and self._options.input == "json",
            presses=self._options.mode == "json",
            attaches=("*/*",) if self._options.files else (),
            greets=self._options.greeting,
        )

    async def open(self, opening: Opening) -> Session:
        """Start the program. Raises Denied (`no-program`, `cannot-start`), or Unanswered if no greeting comes."""
        program = find_program(self._options.argv[0], self._folder, self._environment)
        argv = (program, *self._options.argv[1:])
        session: Session
        if self._options.mode == "once":
            session = _TurnSession(self._options, self, argv, opening.history)
        else:
            session = talk = _ProgramSession(self._options, await self.start(argv), self._running.discard, self.clock)
            self._running.add(talk)
            try:
                await talk.greet()
            except BaseException:
                await talk.close()
                raise
        return session

    async def start(self, argv: tuple[str, ...]) -> Program:
        return await Program.start(argv, self._folder, self._environment, self._options.max_reply)

    async def close(self) -> None:
        for talk in list(self._running):
            await talk.close()


class _ProgramSession:
    def __init__(
        self, options: Options, program: Program, forget: "Callable[[_ProgramSession], None]", clock: Clock
    ) -> None:
        self._options, self._program, self._forget, self._clock = options, program, forget, clock
        self._mark = EndMark(options.end, options.prompt)
        self._marked = options.end is not None or options.prompt is not None
        self._greeted = b""  # as the program wrote it, until it is kept as evidence
        self.greeting: Answer | None = None
        self._over = ""
        self._closed = False

    async def greet(self) -> None:
        """Wait for the greeting or first prompt, if the options expect one. Raises Unanswered if nothing arrives."""
        if self._options.prompt is None and not self._options.greeting:
            return
        watch = Stopwatch(self._clock)
        self._greeted, whole = await self._next_reply(self._options.start_timeout, "greeting", watch)
        if not whole:
            raise self._make_exit_fault(await self._wait_for_exit(), self._greeted)
        if self._options.mode == "json":
            try:
                self.greeting = json_turn(self._greeted, watch, thoughts_apart=self._options.thoughts_apart).answer
            except DriverError as fault:
                raise self._make_fault(fault.reason, f"the greeting: {fault.detail}", self._greeted) from None
        elif self._options.greeting and (said := decode_leniently(self._greeted).strip()):
            self.greeting = Answer.of(said)

    async def say(self, text: str) -> Reply:
        return await self._send(self._input_line(text))

    async def press(self, offer: Offer) -> Reply:
        """Send the title as the text, with the offer beside it. Only in mode json can a program offer anything."""
        return await self._send(json_bytes({"text": offer.title, "pressed": offer_row(offer)}) + _LINE_BREAK)

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        sent, kept = (
            json_bytes({"text": text, "files": shaped_files(files, shapes)}) + _LINE_BREAK
            for shapes in (PROGRAM_SHAPES, EVIDENCE_SHAPES)
        )
        return await self._send(sent, kept)

    async def _send(self, sent: bytes, kept: bytes = b"") -> Reply:
        if self._over:
            raise Unanswered("ended", f"the program no longer runs: {self._over}")
        for _ in range(3):  # rounds of the loop: output that is already in the pipe is read and passed on to us
            await asyncio.sleep(0)
        stray = bytes(self._program.output)
        if stray.strip() or (stray and not self._marked):  # without a mark, an empty line is a reply too
            await self._give_up("it wrote without being asked")
            detail = f"the program wrote without being asked: {excerpt(stray.decode('utf-8', 'replace'))!r}"
            lines = self._options.mode == "lines"
            advice = "say how its replies end, with `end` or `prompt`" if lines else "each reply must be one line"
            raise self._make_fault("unexpected-output", f"{detail}; {advice}", stray)
        watch = Stopwatch(self._clock)
        self._program.write(sent)
        raw, whole = await self._next_reply(self._options.timeout, "reply", watch)
        if not whole:
            code = await self._wait_for_exit()
            if code != 0:
                raise self._make_exit_fault(code, raw)
            self._over = "it ended by itself"
            if self._marked or not raw.strip():
                raise self._make_fault("ended-early", "the program ended before its reply was complete", raw)
        exhibits = (Exhibit("stdin", "text/plain", kept or sent), *self._exhibits(raw))
        try:
            read = json_turn if self._options.mode == "json" else text_turn
            apart = self._options.thoughts_apart
            turn = await run_long_work(len(raw), lambda: read(raw, watch, thoughts_apart=apart))
        except DriverError as fault:
            await self._give_up(fault.reason)
            raise Unanswered(fault.reason, fault.detail, partial=decode_leniently(raw), exhibits=exhibits) from None
        heard, self.greeting = self.greeting, None
        return Reply(replace(turn, ended=not whole or turn.ended).after_greeting(heard), exhibits)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._forget(self)
            await self._program.close()

    async def _next_reply(self, seconds: float, what: str, watch: Stopwatch) -> tuple[bytes, bool]:
        """Return the next reply without its end mark, and True if the mark arrived in time. Kills a late program."""
        program, mark = self._program, self._mark

        def ready() -> bool:
            if program.output:
                watch.mark()
            return mark.find(program.output) is not None

        mark.reset()
        try:
            async with asyncio.timeout(seconds):
                whole = await program.wait_for(ready)
        except TimeoutError:
            raw = bytes(program.output)
            await self._give_up("timeout")
            told = f"no complete {what} within {seconds:g} s; the program was killed{'' if raw else _FLUSH_HINT}"
            raise self._make_fault("timeout", told, raw) from None
        except Unanswered as fault:
            raw = bytes(program.output[: 2**20])
            await self._give_up(fault.reason)
            raise self._make_fault(fault.reason, fault.detail, raw) from None
        except asyncio.CancelledError:
            await self._give_up("it was interrupted")
            raise
        found = mark.find(program.output) if whole else None
        length, taken = found or (len(program.output), len(program.output))
        return program.pop_output(taken)[:length], whole

    async def _wait_for_exit(self) -> int | None:
        try:
            async with asyncio.timeout(_EXIT_SECONDS):
                await self._program.wait_until_ended()
            return self._program.exit_code
        except TimeoutError:
            await self._program.kill()
            return None
        except asyncio.CancelledError:
            await self._give_up("it was interrupted")
            raise

    def _input_line(self, text: str) -> bytes:
        if self._options.mode == "json":
            return json_bytes({"text": text}) + _LINE_BREAK
        return self._options.line_break.join(text.splitlines()).encode() + _LINE_BREAK

    async def _give_up(self, why: str) -> None:
        self._over = why
        await self._program.kill()

    def _exhibits(self, raw: bytes) -> tuple[Exhibit, ...]:
        greeted, self._greeted = self._greeted, b""
        return _exhibits(raw, self._program, greeted)

    def _make_exit_fault(self, code: int | None, raw: bytes) -> Unanswered:
        self._over = _exit_reason(code)
        what = f"ended ({self._over})" if code is not None else "closed its output, and was killed,"
        return self._make_fault(self._over, f"the program {what} before its reply was complete", raw)

    def _make_fault(self, reason: str, detail: str, raw: bytes) -> Unanswered:
        return Unanswered(reason, detail, partial=decode_leniently(raw), exhibits=self._exhibits(raw))


class _TurnSession(NothingHeld):
    """Session with one process for each turn. The session keeps the history."""

    def __init__(
        self, options: Options, driver: CommandDriver, argv: tuple[str, ...], history: tuple[Exchange, ...]
    ) -> None:
        self._options, self._driver, self._argv, self._history = options, driver, argv, History(history)

    async def say(self, text: str) -> Reply:
        return await self.attach(text, ())

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        if self._options.input == "json":
            reply = await self._history.ask(lambda: self._ask_program(text, files))
        else:
            reply = await self._ask_program(text, files)
        self._history.add(text, reply.turn.answer, files)
        return reply

    async def _ask_program(self, text: str, files: Sequence[SentFile]) -> Reply:
        sent, kept = (self._payload(text, files, shapes) for shapes in (PROGRAM_SHAPES, EVIDENCE_SHAPES))
        program, watch = await self._driver.start(self._argv), Stopwatch(self._driver.clock)
        try:
            async with asyncio.timeout(self._options.timeout):
                program.write(sent, last=True)
                await program.wait_for(lambda: _mark_output(program, watch))
                await program.wait_until_ended()
            raw = bytes(program.output)
            if program.exit_code != 0:
                reason = _exit_reason(program.exit_code)
                raise Unanswered(reason, f"the program ended with an error ({reason})")
            apart = self._options.thoughts_apart
            turn = await run_long_work(len(raw), lambda: text_turn(raw, watch, thoughts_apart=apart))
        except TimeoutError:
            detail = f"the program was not done within {self._options.timeout:g} s and was killed"
            raise _with_output(Unanswered("timeout", detail), program) from None
        except Unanswered as fault:
            raise _with_output(fault, program) from None
        finally:
            await program.kill()
        return Reply(turn, (Exhibit("stdin", "text/plain", kept), *_exhibits(raw, program)))

    def _payload(self, text: str, files: Sequence[SentFile], shapes: Mapping[str, Any]) -> bytes:
        if self._options.input == "text":
            return text.encode()
        told = {"text": text, "history": with_shaped_files(self._history.messages(), shapes)}
        return json_bytes({**told, **({"files": shaped_files(files, shapes)} if files else {})}) + _LINE_BREAK


def _mark_output(program: Program, watch: Stopwatch) -> bool:
    if program.output:
        watch.mark()
    return False


def _with_output(fault: Unanswered, program: Program) -> Unanswered:
    raw = bytes(program.output[: 2**20])
    return Unanswered(fault.reason, fault.detail, partial=decode_leniently(raw), exhibits=_exhibits(raw, program))


def _exhibits(raw: bytes, program: Program, greeting: bytes = b"") -> tuple[Exhibit, ...]:
    named = (("greeting", greeting), ("stdout", raw), ("stderr", program.pop_stderr()))
    return tuple(Exhibit(name, "text/plain", data) for name, data in named if data or name == "stdout")


def _exit_reason(code: int | None) -> str:
    if code is None:
        return "output-closed"
    return f"signal-{-code}" if code < 0 else f"exit-{code}"


def build(options: Options, surroundings: Surroundings) -> CommandDriver:
    """Build the driver. Raises InputError if a variable in `env` is not set. `open` reports a missing program."""
    return CommandDriver(options, surroundings)


def files(options: Options, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files named in `argv`, except a program found on PATH, because it differs between machines."""
    for place, word in enumerate(options.argv):
        if place or "/" in word:
            yield word, folder / word
