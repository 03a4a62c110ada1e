"""A driver for Python functions, for models in the same process and for experiments.

Plain functions run in threads, and `async` functions on an event loop in a thread (see `function_calls`). Python
cannot end a thread. After a time-out, a plain function therefore keeps running until it returns, its result is
ignored, and a stateful session accepts no further turn.
"""

import asyncio
import builtins
import contextlib
import importlib
import importlib.util
import inspect
import json
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harvest.drivers.function_calls import Calls, Function, keep_output_aside
from harvest.drivers.history import History, Message
from harvest.drivers.options import THOUGHTS_HELP, Seconds
from harvest.drivers.program_output import turn_of_fields, turn_of_text
from harvest.drivers.received import join_surrogates
from harvest.shadowed import PACKAGES
from harvest.systems.driver import Capabilities, Exhibit, Opening, Reply, Surroundings, Unanswered
from harvest.systems.exposure import Function as Code
from harvest.systems.timing import REAL_CLOCK, Clock, Stopwatch
from protocols.answer import Answer, Offer
from recordings.conversations.conversation import SystemTurn
from recordings.log.own_loop import run_long_work
from topics.document import StrictModel, validation_error
from topics.errors import InputError, suggestion
from topics.identity import content_hash
from topics.sent_files import SentFile

_ARGUMENTS = {"text": ("text",), "history": ("text", "history"), "nothing": ()}


def _check_reference(text: str) -> str:
    module, colon, name = text.rpartition(":")
    if not colon or not module or not all(part.isidentifier() for part in name.split(".")):
        raise validation_error(f"{text!r} does not name a function: write package.module:function or file.py:function")
    return Code(text)


class Options(StrictModel):
    """Options of a function that answers user turns."""

    function: Annotated[str, AfterValidator(_check_reference)] = Field(
        description="`package.module:function`, or `file.py:function` with a path that starts at the audit file"
    )
    takes: Literal["text", "history", "nothing"] = Field(
        "text",
        description="`text`: f(text); `history`: f(text, history), with a list of {role, content}; `nothing`: f() is "
        "called for each session and returns the function that takes text and remembers",
    )
    presses: bool = Field(
        False,
        description="true if it takes one more argument: the offer that the user pressed, an object with `title`, "
        "`value` and `kind`, or None",
    )
    files: bool = Field(
        False,
        description="true if it takes one more argument, the last: the files that were sent with the turn, a list of "
        "objects with `name`, `type` and `data` (bytes); in a history, messages with files have them as `files`",
    )
    greets: bool = Field(
        False,
        description="with `takes: nothing`, true if the system speaks first: f() returns a pair of what it says, as a "
        "reply, and the function",
    )
    thoughts_apart: bool = Field(True, description=THOUGHTS_HELP)
    timeout: Seconds = Field(60.0, description="seconds for a complete turn")
    max_reply: int = Field(
        8 * 2**20, ge=1, description="bytes of a reply in UTF-8; a longer one is a fault (`too-large`)"
    )

    @model_validator(mode="after")
    def _check_greets(self) -> Self:
        if self.greets and self.takes != "nothing":
            raise validation_error("`greets` needs `takes: nothing`, by which the function is called for each session")
        return self

    @property
    def further(self) -> tuple[str, ...]:
        """The names of the arguments in addition to those of `takes`."""
        return (*(("pressed",) if self.presses else ()), *(("files",) if self.files else ()))


class PythonDriver:
    """Driver for one function."""

    def __init__(self, options: Options, function: Function, clock: Clock = REAL_CLOCK) -> None:
        self._options, self._function, self._clock, self._calls = options, function, clock, Calls(clock)

    @property
    def capabilities(self) -> Capabilities:
        takes = self._options.takes
        return Capabilities(
            stateful=takes == "nothing",
            editable_history=takes == "history",
            presses=self._options.presses,
            attaches=("*/*",) if self._options.files else (),
            greets=self._options.greets,
        )

    async def open(self, opening: Opening) -> "_Session":
        """Open a session. Raises Unanswered if the function that creates a session fails."""
        options, function, greeting = self._options, self._function, None
        if options.takes == "nothing":
            function = await _call_function(self._calls, self._function, (), options.timeout)
            if options.greets:
                if type(function) is not tuple or len(function) != 2:
                    raise _make_type_fault(function, type(function).__name__, options, "a pair of text and a function")
                greeting, function = _read_turn(function[0], options, Stopwatch(self._clock)).answer, function[1]
            if not callable(function):
                kind = type(function).__name__
                raise Unanswered("bad-type", f"{options.function} returned {kind}, not a function of text")
        return _Session(options, self._calls, function, History(opening.history), self._clock, greeting)

    async def close(self) -> None:
        self._calls.close()


class _Session:
    def __init__(
        self, options: Options, calls: Calls, function: Function, history: History, clock: Clock, heard: Answer | None
    ) -> None:
        self._options, self._calls, self._function, self._history = options, calls, function, history
        self._clock, self.greeting = clock, heard
        self._late = False

    async def say(self, text: str) -> Reply:
        return await self._take_turn(text)

    async def press(self, offer: Offer) -> Reply:
        return await self._take_turn(offer.title, pressed=asdict(offer))

    async def attach(self, text: str, files: Sequence[SentFile]) -> Reply:
        return await self._take_turn(text, files)

    async def _take_turn(
        self, text: str, files: Sequence[SentFile] = (), pressed: dict[str, str] | None = None
    ) -> Reply:
        given = {"pressed": pressed, "files": _given_files(files)}
        more = [given[name] for name in self._options.further]
        if self._options.takes == "history":
            reply = await self._history.ask(lambda: self._ask_function(text, self._messages(), *more))
        else:
            reply = await self._ask_function(text, *more)
        self._history.add(text, reply.turn.answer, files)
        return reply

    def _messages(self) -> list[Message]:
        told = self._history.messages()
        return [{**one, "files": _given_files(one["files"])} if "files" in one else one for one in told]

    async def _ask_function(self, *arguments: Any) -> Reply:
        options = self._options
        if self._late and options.takes == "nothing":
            raise Unanswered("timeout", "the previous turn is still being answered")
        watch = Stopwatch(self._clock)
        try:
            answered = await _call_function(self._calls, self._function, arguments, options.timeout)
        except Unanswered as fault:
            self._late = self._late or fault.reason == "timeout"
            raise
        except asyncio.CancelledError:
            self._late = True
            raise
        watch.mark()
        size = str.__len__(answered) if issubclass(type(answered), str) else 0
        turn = await run_long_work(size, lambda: _read_turn(answered, options, watch))
        heard, self.greeting = self.greeting, None
        return Reply(turn.after_greeting(heard))

    async def close(self) -> None:
        """Do nothing, since a session has no resources."""


def _given_files(files: Iterable[SentFile]) -> list[dict[str, object]]:
    return [{"name": one.name, "type": one.type, "data": one.read()} for one in files]


def _read_turn(answered: object, options: Options, watch: Stopwatch) -> SystemTurn:
    # Its methods and its claimed class are not trusted, since they are the function's code too.
    if type(answered) is dict:
        try:
            written = json.dumps(answered)
            fields = json.loads(written)
        except (TypeError, ValueError, RecursionError) as error:
            raise _make_type_fault(answered, f"an object that cannot be JSON ({error})", options) from None
        _check_size(written, options)
        try:
            return turn_of_fields(fields, watch, thoughts_apart=options.thoughts_apart)
        except Unanswered as fault:
            raise Unanswered(fault.reason, fault.detail, exhibits=(_returned_exhibit(answered),)) from None
    if not issubclass(type(answered), str):
        raise _make_type_fault(answered, type(answered).__name__, options)
    text = join_surrogates(str.__str__(answered))
    _check_size(text, options)
    return turn_of_text(text, watch, thoughts_apart=options.thoughts_apart)


def _check_size(text: str, options: Options) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > options.max_reply:
        detail = f"the reply is longer than {options.max_reply} bytes (max_reply)"
        raise Unanswered("too-large", detail, partial=text[: 2**20])


def _make_type_fault(answered: object, kind: str, options: Options, wanted: str = "text") -> Unanswered:
    return Unanswered(
        "bad-type", f"{options.function} returned {kind}, not {wanted}", exhibits=(_returned_exhibit(answered),)
    )


def _returned_exhibit(answered: object) -> Exhibit:
    try:
        shown = repr(answered)[:1000]
    except BaseException:  # whatever its class raises
        shown = object.__repr__(answered)
    return Exhibit("returned", "text/plain", _encode_text(shown))


async def _call_function(calls: Calls, function: Function, arguments: tuple[Any, ...], seconds: float) -> Any:
    """Return the function's result. Raises Unanswered (`timeout`, or `exception` with the traceback as evidence)."""
    try:
        returned, raised = await calls.result(function, arguments, seconds)
    except TimeoutError:
        raise Unanswered("timeout", f"no reply within {seconds:g} s") from None
    if raised is not None:
        trace = "".join(traceback.format_exception(raised))
        sentence = "".join(traceback.format_exception_only(raised)).strip()
        exhibit = Exhibit("traceback", "text/plain", _encode_text(trace))
        raise Unanswered("exception", f"the function raised {sentence[:300]}", exhibits=(exhibit,))
    return returned


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def build(options: Options, surroundings: Surroundings) -> PythonDriver:
    """Import the function. Raises InputError if that fails, or if the parameters do not fit the option `takes`."""
    if not surroundings.imports:
        return PythonDriver(options, _not_imported, surroundings.clock)
    keep_output_aside()
    place, _, name = options.function.rpartition(":")
    found: Any = _import_module(options, place, surroundings.folder)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            hint = suggestion(part, [known for known in dir(found) if not known.startswith("_")])
            raise _function_error(options, f"{place} has no function {name!r}{hint}") from None
    if not callable(found):
        raise _function_error(options, f"{options.function} is {type(found).__name__}, not a function")
    _check_parameters(options, found)
    return PythonDriver(options, found, surroundings.clock)


def _not_imported(*_: object) -> str:
    raise RuntimeError("nothing is played, so no function was imported")


def _import_module(options: Options, place: str, folder: Path) -> ModuleType:
    path = folder / place if place.endswith(".py") else None
    if path is not None and not path.is_file():
        raise _function_error(options, f"there is no file {path}")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            if path is None:
                return importlib.import_module(place)
            name = f"harvest_system_{content_hash('python-file', str(path.resolve()))}"
            return OwnModules(path.parent, f"{name}_").run(name, path)
    except (Exception, SystemExit) as error:
        sentence = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        if isinstance(error, SyntaxError) and error.filename:
            sentence += f" in {Path(error.filename).name}:{error.lineno}:{error.offset}"
        raise _function_error(options, f"importing {place} fails: {sentence}") from None


def _check_parameters(options: Options, function: Function) -> None:
    """Raise InputError if the function cannot be called as `takes` says. The message names a value that would fit."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    fitting = []
    for takes, names in _ARGUMENTS.items():
        arguments = (*names, *(options.further if names else ()))
        with contextlib.suppress(TypeError):
            signature.bind(*arguments)
            fitting.append(takes)
    if options.takes not in fitting:
        given = ", ".join((*_ARGUMENTS[options.takes], *options.further))
        raise InputError(
            f"function {options.function} has the parameters {signature}, but `takes: {options.takes}` calls the "
            f"function with ({given})",
            allowed="f(text); f(text, history) with takes: history; f() with takes: nothing",
            advice=f"write `takes: {fitting[0]}`" if fitting else "change its parameters",
        )


def _function_error(options: Options, what: str) -> InputError:
    return InputError(
        f"function {options.function}: {what}",
        allowed="package.module:function of an installed package, or file.py:function beside the audit",
    )


def files(options: Options, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the file that defines the function, but not the files that it imports."""
    place = options.function.rpartition(":")[0]
    if place.endswith(".py"):
        yield place, folder / place
    elif place == "__main__":
        raise _function_error(options, "what a notebook or a script defines itself cannot be found again in later runs")
    elif (spec := importlib.util.find_spec(place)) is not None and spec.origin is not None:
        yield place, Path(spec.origin)


class OwnModules:
    """An importer of one system's code from `folder`. The unique names of the imported modules begin with `prefix`."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder, self._prefix = folder, prefix
        self._builtins = {**vars(builtins), "__import__": self._import}
        self._made: dict[str, ModuleType] = {}  # by the name that they are kept under
        self._making = RLock()  # functions import in other threads, and a module must not be run twice

    def run(self, name: str, path: Path) -> ModuleType:
        """Run the file `path` as a new module called `name`, even if the file was run before."""
        inside = [str(path.parent)] if path.name == "__init__.py" else None
        spec = spec_from_file_location(name, path, submodule_search_locations=inside)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        module.__dict__["__builtins__"] = self._builtins
        # Before it is run: modules may import each other. Dataclasses and pickle look in the second place.
        self._made[name] = sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del self._made[name], sys.modules[name]
            raise
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - so Python calls it
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        own = ""
        if level:
            package = str((globals or {}).get("__package__") or "")
            if package.startswith(self._prefix):
                own = resolve_name("." * level + name, package).removeprefix(self._prefix)
        elif (top := name.partition(".")[0]) in PACKAGES and self._module_file(top) is not None:
            own = name
        if not own:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        with self._making:
            module = self._import_beside(own)
            for part in fromlist or ():
                if part != "*" and not hasattr(module, part) and self._module_file(f"{own}.{part}") is not None:
                    self._import_beside(f"{own}.{part}")
            return module if fromlist or level else self._import_beside(own.partition(".")[0])

    def _import_beside(self, own: str) -> ModuleType:
        above, _, last = own.rpartition(".")
        package = self._import_beside(above) if above else None
        if self._prefix + own in self._made:
            return self._made[self._prefix + own]
        path = self._module_file(own)
        if path is None:
            raise ModuleNotFoundError(f"No module named {own!r}", name=own)
        module = self.run(self._prefix + own, path)
        if package is not None:
            setattr(package, last, module)
        return module

    def _module_file(self, own: str) -> Path | None:
        base = self._folder.joinpath(*own.split("."))
        return next((one for one in (base / "__init__.py", base.with_name(f"{base.name}.py")) if one.is_file()), None)
