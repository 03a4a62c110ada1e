"""The available drivers by name. The module of a driver is imported on first use.

A module has `Options`, a StrictModel, and `build(options, surroundings) -> Driver`. If the options name files that
belong to the system, the module also has `files(options, folder)`. If such a file names a server, a variable or code,
the module has `further(options, folder)`, which reads the file. A recipe, which is a file in `harvest/drivers/recipes/`
(see `drivers/recipe.py`), is used like a module. Other distributions add drivers by entry points of the group
`harvest.drivers`, as `name = "module"`.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from harvest.systems.driver import Driver, Surroundings
from harvest.systems.exposure import Exposure
from topics.document import Document, StrictModel
from topics.errors import InputError, suggestion
from topics.plug_ins import entry_source, find_plug_ins, load_entry
from topics.yaml_values import Loc

DRIVERS: Mapping[str, str] = MappingProxyType(
    {
        "browser": "harvest.drivers.browser",
        "command": "harvest.drivers.command",
        "http": "harvest.drivers.http",
        "newsroom": "harvest.drivers.newsroom",
        "openai": "harvest.drivers.openai",
        "parrot": "harvest.drivers.parrot",
        "python": "harvest.drivers.python",
        "replay": "harvest.drivers.replay",
        "websocket": "harvest.drivers.websocket",
    }
)

# The group of entry points by which other distributions add drivers.
GROUP = "harvest.drivers"


@cache
def recipe_names() -> tuple[str, ...]:
    """Return the names of the shipped recipes, sorted."""
    folder = resources.files("harvest.drivers") / "recipes"
    return tuple(sorted(one.name.removesuffix(".yaml") for one in folder.iterdir() if one.name.endswith(".yaml")))


def probed_drivers() -> tuple[str, ...]:
    """Return the names of the drivers whose modules have a `LOOK`, by which their API is recognised."""
    return (*recipe_names(), "openai")  # last: many servers speak it besides their own API


def driver_module(name: str) -> Any:
    """Return the module of a driver, or its recipe. Raises InputError if the name is unknown or the plug-in is not a
    driver."""
    if name in DRIVERS:
        return import_module(DRIVERS[name])
    if name in recipe_names():
        from harvest.drivers.recipe import read_recipe  # late: most audits need no recipe

        return read_recipe(name)
    others = find_plug_ins(GROUP, "drivers", _own_names())
    known = (*_own_names(), *others)
    if name not in others:
        raise InputError(f"there is no driver {name!r}{suggestion(name, known)}", allowed=", ".join(known))
    allowed = "a module with Options, a StrictModel, and build(options, surroundings)"
    return load_entry(others[name], "the driver", allowed, _check_module)


def _own_names() -> tuple[str, ...]:
    return (*DRIVERS, *recipe_names())


def _check_module(module: ModuleType) -> ModuleType:
    if not (issubclass(module.Options, StrictModel) and callable(module.build)):
        raise TypeError("a driver module must define Options as a StrictModel and build as a function")
    return module


def options_model(name: str) -> type[StrictModel]:
    """Return the options model of the driver `name`. Raises InputError if there is no valid driver `name`."""
    model: type[StrictModel] = driver_module(name).Options
    return model


def driver_files(name: str, options: StrictModel, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the regular files that belong to a system of the driver `name`, each with its name in the options."""
    for called, path in getattr(driver_module(name), "files", _no_files)(options, folder):
        with suppress(OSError, ValueError):  # not a valid file name
            if path.is_file():
                yield called, path


def _no_files(options: StrictModel, folder: Path) -> Iterator[Any]:
    yield from ()


def read_exposure(
    name: str, options: Mapping[str, Any], who: str, folder: Path, *, document: Document, loc: Loc
) -> Exposure:
    """Return everything that a system of the driver `name` makes this machine do. The system is not built, and no
    variable is read. `who` is the name of the system, and `folder` the folder of the audit file. `loc` is the
    position of the options in `document`. Raises InputError for an unknown driver or invalid options."""
    part = replace(document.part(loc), value=dict(options))
    return _read_exposure(name, part.validate_as(options_model(name)), who, folder)


def _read_exposure(name: str, options: StrictModel, who: str, folder: Path) -> Exposure:
    own = _own_names()
    plug_in = "" if name in own else entry_source(find_plug_ins(GROUP, "drivers", own)[name])
    further = getattr(driver_module(name), "further", _no_files)(options, folder)
    return Exposure.from_options(who, options, *further, plug_in=plug_in)


def build_driver(
    name: str,
    options: Mapping[str, Any],
    surroundings: Surroundings,
    *,
    document: Document | None = None,
    loc: Loc = (),
) -> Driver:
    """Build a driver from the options in an audit. Nothing is sent or started yet. `document` is the audit file. `loc`
    is the position of the options in the file, or the position of the system if it has no options; errors refer to
    file and position. Raises InputError for an unknown driver, invalid options, and missing files or variables."""
    # Without a file there is no place, and the message names the system.
    part = document.part(loc) if document is not None else Document("", {}, {}, {})
    try:
        module = driver_module(name)
        checked = replace(part, value=dict(options)).validate_as(module.Options)
        exposure = _read_exposure(name, checked, surroundings.system, surroundings.folder)
        driver: Driver = module.build(checked, replace(surroundings, exposure=exposure))
    except InputError as fault:
        if document is None and fault.place is not None and not fault.place.path:
            what, place = f"options of {surroundings.system!r}: {fault.what}", None
        elif document is not None and fault.place is None:
            what, place = fault.what, document.place(loc)
        else:
            raise
        raise InputError(what, place=place, allowed=fault.allowed, advice=fault.advice) from None
    return driver
