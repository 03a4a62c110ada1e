"""A Python function as a system, for models in the same process and for trying things out.

A plain function runs in a thread of its own, an `async` one on our event loop. Python cannot end a thread: after a
time-out the function goes on unseen until it returns, and the session takes no further turn.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field

from harvest.drivers.driver import Capabilities, Exhibit, Opening, Reply, Surroundings, Unanswered
from harvest.drivers.options import Seconds, refused
from harvest.drivers.timing import Stopwatch
from protocols.answer import Answer
from recordings.conversation import SystemTurn
from topics.document import StrictModel
from topics.errors import InputError
from topics.identity import content_hash
from topics.links import links_in

__all__ = ["Options", "PythonDriver", "build"]

Function = Callable[..., Any]


def _reference(text: str) -> str:
    module, colon, name = text.rpartition(":")
    if not colon or not module or not all(part.isidentifier() for part in name.split(".")):
        raise refused(f"{text!r} does not name a function: write package.module:function or file.py:function")
    return text


class Options(StrictModel):
    """A function that answers."""

    function: Annotated[str, AfterValidator(_reference)] = Field(
        description="`package.module:function`, or `file.py:function` with a path that starts at the audit file"
    )
    takes: Literal["text", "history", "nothing"] = Field(
        "text",
        description="`text`: f(text); `history`: f(text, history), with a list of {role, content}; `nothing`: f() is "
        "called for each session and returns the function that takes text and remembers",
    )
    timeout: Seconds = Field(60.0, description="seconds for a whole turn")
    max_reply: int = Field(
        8 * 2**20, ge=1, description="bytes of a reply in UTF-8; a longer one is a fault (`too-large`)"
    )


class PythonDriver:
    """Opens sessions with one function."""

    def __init__(self, options: Options, function: Function) -> None:
        self._options, self._function = options, function

    @property
    def capabilities(self) -> Capabilities:
        takes = self._options.takes
        return Capabilities(stateful=takes == "nothing", editable_history=takes == "history")

    async def open(self, opening: Opening) -> _Session:
        """Raises Unanswered where the function that makes a session fails."""
        function = self._function
        if self._options.takes == "nothing":
            function = await _called(self._function, (), self._options.timeout)
            if not callable(function):
                kind = type(function).__name__
                raise Unanswered("bad-type", f"{self._options.function} returned {kind}, not a function of text")
        history = [
            message for exchange in opening.history for message in _messages(exchange.said, exchange.answer.text)
        ]
        return _Session(self._options, function, history)

    async def close(self) -> None:
        """Nothing is held."""


class _Session:
    def __init__(self, options: Options, function: Function, history: list[dict[str, str]]) -> None:
        self._options, self._function, self._history = options, function, history
        self._late = False

    async def say(self, text: str) -> Reply:
        options = self._options
        if self._late and options.takes == "nothing":
            raise Unanswered("timeout", "the turn before this one is still being answered")
        # A copy: what the function does to its arguments must not change what was said.
        arguments = (text, [dict(message) for message in self._history]) if options.takes == "history" else (text,)
        watch = Stopwatch()
        try:
            answered = await _called(self._function, arguments, options.timeout)
        except Unanswered as fault:
            self._late = self._late or fault.reason == "timeout"
            raise
        except asyncio.CancelledError:
            self._late = True
            raise
        watch.mark()
        text_of = _checked(answered, options)
        self._history += _messages(text, text_of)
        turn = SystemTurn(Answer(text_of, links_in(text_of)), watch.asked_at, watch.first_seconds, watch.seconds)
        return Reply(turn)

    async def close(self) -> None:
        """Nothing is held."""


def _messages(said: str, answered: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": said}, {"role": "assistant", "content": answered}]


def _checked(answered: object, options: Options) -> str:
    if not isinstance(answered, str):
        shown = repr(answered)[:1000]
        detail = f"{options.function} returned {type(answered).__name__}, not text"
        raise Unanswered("bad-type", detail, exhibits=(Exhibit("returned", "text/plain", _encoded(shown)),))
    try:
        size = len(answered.encode())
    except UnicodeEncodeError as error:
        raise Unanswered("not-utf8", f"the text cannot be written as UTF-8: {error.reason}") from None
    if size > options.max_reply:
        detail = f"the reply is longer than {options.max_reply} bytes (max_reply)"
        raise Unanswered("too-large", detail, partial=answered[: 2**20])
    return str(answered)


async def _called(function: Function, arguments: tuple[Any, ...], seconds: float) -> Any:
    """What the function returns. Raises Unanswered: `timeout`, `exception` with the traceback as evidence."""
    try:
        async with asyncio.timeout(seconds) as bound:
            if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
                getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__, not a question
            ):
                return await function(*arguments)
            result = await _in_thread(function, arguments)
            return await result if inspect.isawaitable(result) else result
    except TimeoutError as error:
        if bound.expired():
            raise Unanswered("timeout", f"no reply within {seconds:g} s") from None
        raise _blamed(error) from None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _blamed(error) from None  # the function's own doing
    except (Exception, SystemExit) as error:
        raise _blamed(error) from None


async def _in_thread(function: Function, arguments: tuple[Any, ...]) -> Any:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def work() -> None:
        result: Any = None
        failure: Exception | None = None
        try:
            result = function(*arguments)
        except BaseException as error:
            # A future cannot carry StopIteration, and KeyboardInterrupt or SystemExit would end our own loop.
            fits = isinstance(error, Exception) and not isinstance(error, StopIteration)
            failure = cast(Exception, error) if fits else _carried(error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, failure)

    # A daemon, not a pool's thread: one that never returns must not keep the program from ending.
    threading.Thread(target=work, name="harvest-python-driver", daemon=True).start()
    return await future


def _carried(error: BaseException) -> RuntimeError:
    return RuntimeError(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__)


def _blamed(error: BaseException) -> Unanswered:
    trace = "".join(traceback.format_exception(error))
    sentence = "".join(traceback.format_exception_only(error)).strip()
    exhibit = Exhibit("traceback", "text/plain", _encoded(trace))
    return Unanswered("exception", f"the function raised {sentence[:300]}", exhibits=(exhibit,))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def build(options: Options, surroundings: Surroundings) -> PythonDriver:
    """Imports the function. Raises InputError where that fails, or what is there cannot be called."""
    place, _, name = options.function.rpartition(":")
    try:
        found: Any = (
            _from_file(surroundings.folder / place) if place.endswith(".py") else importlib.import_module(place)
        )
        for part in name.split("."):
            found = getattr(found, part)
    except FileNotFoundError:
        raise _unusable(options, f"there is no file {surroundings.folder / place}") from None
    except AttributeError as error:
        raise _unusable(options, str(error)) from None
    except (Exception, SystemExit) as error:
        sentence = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        raise _unusable(options, f"importing {place} fails: {sentence}") from None
    if not callable(found):
        raise _unusable(options, f"{options.function} is {type(found).__name__}, not a function")
    return PythonDriver(options, found)


def _unusable(options: Options, what: str) -> InputError:
    return InputError(
        f"function {options.function}: {what}",
        allowed="package.module:function of an installed package, or file.py:function beside the audit",
    )


def _from_file(path: Path) -> ModuleType:
    name = f"harvest_system_{content_hash('python-file', str(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up there
    spec.loader.exec_module(module)
    return module
