"""The registry of simulators, by the name used in a protocol. A simulator's module is imported on first use.

    users:
      visitor: {simulator: markov, order: 1}
      hasty: {simulator: paraphrasing, typos: 0.1, over: {simulator: random, leave: 0.5}}

A module has `Options`, a StrictModel, and `build(options) -> User`. A wrapper has `build(options, inner)`, and `over`
describes the wrapped user; if `inner` has a default, `over` is optional. A module may have `FILES`, the names of the
options that are paths, relative to the folder of the file that contains them. Plug-ins add simulators through entry
points of the group `harvest.simulators`, `name = "module:build"`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from inspect import Parameter, signature
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType, ModuleType
from typing import Literal

from protocols.protocol import Protocol
from recordings.files.stored_lines import files_of_lines, read_lines
from simulators.promises import BrokenPromise, initial_state
from simulators.stopping.hazard import Hazard
from simulators.user import Scenario, Streams, User
from topics.document import Document, StrictModel
from topics.errors import InputError, suggestion
from topics.identity import content_hash
from topics.plug_ins import entry_source, find_plug_ins, load_entry
from topics.regular_file import read_regular
from topics.topic import Topic

# The group of entry points by which plug-ins add simulators.
GROUP = "harvest.simulators"

# The built-in ones, each as `module:build`.
SIMULATORS: Mapping[str, str] = MappingProxyType(
    {
        "agenda": "simulators.agenda:build",
        "clarification": "simulators.clarification:build",
        "fitted": "simulators.fitted:build",
        "llm": "simulators.llm.user:build",
        "markov": "simulators.markov:build",
        "paraphrasing": "simulators.wrappers.paraphrasing:build",
        "persona": "simulators.wrappers.persona:build",
        "pressing": "simulators.wrappers.pressing:build",
        "probe": "simulators.probing.probe:build",
        "random": "simulators.random:build",
        "recorded": "simulators.recorded:build",
        "reformulating": "simulators.wrappers.reformulating:build",
        "replay": "simulators.replay:build",
        "subtopic": "simulators.subtopic:build",
    }
)

_OVER, _SIMULATOR = "over", "simulator"
_ADVICE = "mend that simulator; simulators.conformance says what else it does not keep"


@dataclass(frozen=True, slots=True)
class Simulator:
    """An entry of the registry. `options` is the class of the options in a file. `build` makes the user. `over` says
    whether this is a wrapper (`may` if that depends on the options). `files` names the options that are paths."""

    name: str
    options: type[StrictModel]
    build: Callable[..., User]
    over: Literal["must", "may", "never"]
    files: tuple[str, ...] = ()


@cache
def plug_ins() -> Mapping[str, EntryPoint]:
    """Return the simulators of plug-ins by name. Raises InputError for a name that is taken."""
    return find_plug_ins(GROUP, "simulators", SIMULATORS)


def simulator(name: str) -> Simulator:
    """Return the simulator `name`. Raises InputError for an unknown name, and for an invalid plug-in."""
    others = plug_ins()
    if name in SIMULATORS:
        path = SIMULATORS[name]
        module_name, _, function = path.partition(":")
        module = import_module(module_name)
        return _simulator(name, module, getattr(module, function))
    if name in others:
        module_name = others[name].module
        allowed = "a module with Options, a StrictModel, and build(options) or build(options, inner)"
        return load_entry(
            others[name], "the simulator", allowed, lambda build: _simulator(name, import_module(module_name), build)
        )
    known = sorted({*SIMULATORS, *others})
    raise InputError(f"there is no simulator {name!r}{suggestion(name, known)}", allowed=", ".join(known))


def _simulator(name: str, module: ModuleType, build: Callable[..., User]) -> Simulator:
    options = module.Options
    if not (isinstance(options, type) and issubclass(options, StrictModel)):
        raise TypeError(f"{module.__name__}.Options is not a StrictModel")
    further = list(signature(build).parameters.values())[1:]
    over: Literal["must", "may", "never"] = "never"
    if further:
        over = "must" if further[0].default is Parameter.empty else "may"
    return Simulator(name, options, build, over, tuple(getattr(module, "FILES", ())))


def build_user(document: Document) -> User:
    """Build the simulated user described by `document`: `{simulator: NAME, …options…}`, with `over: {…}` for a
    wrapper. Raises InputError, with the position in the document, for unknown simulators or options, and for missing
    files."""
    value = document.value
    if not isinstance(value, Mapping) or not isinstance(value.get(_SIMULATOR), str):
        raise document.error((), "the description of a user is missing", allowed="{simulator: NAME, …options…}")
    try:
        found = simulator(value[_SIMULATOR])
    except InputError as fault:
        raise document.error((_SIMULATOR,), fault.what, allowed=fault.allowed, advice=fault.advice) from None
    if found.over == "must" and _OVER not in value:
        raise document.error(
            (), f"{found.name!r} wraps another user, but none is given", advice="add over: {simulator: NAME, …}"
        )
    if found.over == "never" and _OVER in value:
        raise document.error((_OVER,), f"{found.name!r} does not wrap another user", advice="remove over", key=True)
    inner = (build_user(document.part((_OVER,))),) if _OVER in value else ()
    given = {str(key): part for key, part in value.items() if key not in (_OVER, _SIMULATOR)}
    for name in found.files:
        if isinstance(given.get(name), str):
            given[name] = str(Path(document.path).parent / str(given[name]))
    options = replace(document, value=given).validate_as(found.options)
    try:
        user: object = found.build(options, *inner)
    except InputError as fault:
        if fault.place is None:
            raise document.error((), fault.what, allowed=fault.allowed, advice=fault.advice) from None
        named = next((name for name in found.files if fault.place.path == given.get(name)), None)
        if fault.place.line or named is None:
            raise
        # An invalid file or folder, reported at the place that names it.
        what = f"{fault.place.path}: {fault.what}"
        raise document.error((named,), what, allowed=fault.allowed, advice=fault.advice) from None
    except Exception as fault:
        if found.name in SIMULATORS:
            raise
        raise _build_error(document, found.name, f"raises {type(fault).__name__}: {fault}") from fault
    if not isinstance(user, User):
        raise _build_error(document, found.name, f"returns {type(user).__name__}, not a user")
    return user


def _build_error(document: Document, name: str, how: str) -> InputError:
    return document.error(
        (_SIMULATOR,),
        f"the simulator {name!r} of {entry_source(plug_ins()[name])} cannot be built: its build {how}",
        allowed="a user: name, start and respond",
        advice=_ADVICE,
    )


def build_users(protocol: Protocol) -> dict[str, User]:
    """Build the simulated users of the protocol, by name. Raises InputError as `build_user` does."""
    return {name: build_user(user.document) for name, user in protocol.users.items()}


def file_hashes(protocol: Protocol) -> dict[str, str]:
    """Return a content hash of each file that the protocol's users are made of. Keys name the user and option, for
    example `visitor.file`. If the content changes, the same name means a different user."""
    named = ((name, user.document) for name, user in protocol.users.items())
    return {option: _content_hash(path) for name, document in named for option, path in _file_options(name, document)}


def _file_options(name: str, document: Document) -> Iterator[tuple[str, Path]]:
    value = document.value
    if not isinstance(value, Mapping):
        return
    for option in simulator(str(value[_SIMULATOR])).files:
        if isinstance(value.get(option), str):
            yield f"{name}.{option}", Path(document.path).parent / value[option]
    if _OVER in value:
        yield from _file_options(f"{name}.{_OVER}", document.part((_OVER,)))


def default_hazards(protocol: Protocol) -> dict[str, Hazard]:
    """Return the default hazards, by user, of the users without a stop model in their file."""
    return {
        name: hazard for key, user in protocol.users.items() for name, hazard in _unasked_hazards(key, user.document)
    }


def _unasked_hazards(name: str, document: Document) -> Iterator[tuple[str, Hazard]]:
    value = document.value
    if not isinstance(value, Mapping):
        return
    stop = simulator(str(value[_SIMULATOR])).options.model_fields.get("stop")
    if stop is not None and isinstance(stop.default, Hazard) and "stop" not in value:
        yield name, stop.default
    if _OVER in value:
        yield from _unasked_hazards(f"{name}.{_OVER}", document.part((_OVER,)))


def _content_hash(path: Path) -> str:
    files = [path] if path.is_file() else sorted((*path.glob("run.json"), *files_of_lines(path, "trials-*.jsonl")))
    digests = []
    for file in files:
        content = read_regular(file) if file == path else read_lines(path, file.name)
        digests.append([file.name, hashlib.blake2b(content, digest_size=16).hexdigest()])
    return content_hash("user-file", [digest if path.is_dir() else digest[1:] for digest in digests])


def check_users(
    users: Mapping[str, User], topics: Iterable[Topic], traits: Mapping[str, object] = MappingProxyType({})
) -> None:
    """Raise InputError if a topic is incomplete for a user. `traits` are the traits of every scenario."""
    for topic in topics:
        for name, user in users.items():
            try:
                initial_state(user, Scenario(topic, traits), Streams(0, (name, topic.id)))
            except BrokenPromise as fault:
                raise InputError(
                    f"user {name!r} on topic {topic.id!r}: {fault}",
                    advice=_ADVICE,
                ) from None
            except InputError as fault:
                raise InputError(
                    f"user {name!r} on topic {topic.id!r}: {fault.what}",
                    place=fault.place,
                    allowed=fault.allowed,
                    advice=fault.advice,
                ) from None
            except Exception as fault:
                last = extract_tb(fault.__traceback__)[-1]
                if last.filename.startswith(str(Path(__file__).parent)):  # a bug in Harvest, raised as it is
                    raise
                raise InputError(
                    f"user {name!r} on topic {topic.id!r}: its start raises {type(fault).__name__}: {fault} "
                    f"({last.filename}:{last.lineno})",
                    advice=_ADVICE,
                ) from fault
