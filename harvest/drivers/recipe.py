"""Recipes: drivers that consist of a YAML file, which describes an API to the driver `http` or `openai`.

A file in `harvest/drivers/recipes/` has a few `options` of its own, and a section `http` or `openai` with the options
of that driver. There, a string `{{ model }}` becomes the value of the recipe's option `model`; placeholders of `http`
itself, such as `{{ text }}`, stay. A key or element that contains an option without a value is left out. If `stream` is
true, the section `streamed` replaces or adds parts.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, Field, create_model, model_validator

from harvest.drivers import http, openai
from harvest.drivers.http_options import Options as HttpOptions
from harvest.drivers.look import Look
from harvest.drivers.options import THOUGHTS_HELP, Url, VariableName, WireOptions, certificate_files
from harvest.drivers.template import LiteralValue
from harvest.systems.driver import Driver, Surroundings
from harvest.systems.exposure import Target
from topics.cut_text import Said
from topics.document import Document, StrictModel, read_document, validation_error
from topics.errors import InputError

_FOLDER = resources.files("harvest.drivers") / "recipes"
_PLACEHOLDER = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")


def _check_base(url: str) -> str:
    if "?" in url or "{{" in url:
        raise validation_error("the address may have neither a query nor placeholders: the recipe adds the rest")
    return Target(url.rstrip("/"))


_TYPES: Mapping[str, Any] = {
    "text": Annotated[str, Field(min_length=1)],
    "prompt": Said,
    "url": Annotated[Url, AfterValidator(_check_base)],
    # Declared by the options of the driver alone: a variable may be named and not used.
    "variable": Annotated[VariableName, AfterValidator(str)],
    "integer": int,
    "number": float,
    "flag": bool,
    "mapping": dict[str, Any],
}


class RecipeOption(StrictModel):
    """An option of a recipe. Without `default` it is required. With `default: null` nothing is sent unless it is
    given."""

    type: Literal["text", "prompt", "url", "variable", "integer", "number", "flag", "mapping"] = "text"
    about: str
    default: Any = None
    example: Any = None

    @property
    def is_required(self) -> bool:
        return "default" not in self.model_fields_set

    @property
    def is_essential(self) -> bool:
        """True if a starter file should show the option."""
        return self.is_required or self.type == "url" or (self.type == "variable" and self.default is not None)

    @property
    def sample(self) -> Any:
        """A value for starter files and documentation."""
        return self.default if self.example is None else self.example

    def field(self) -> tuple[Any, Any]:
        kind = _TYPES[self.type]
        if self.is_required:
            return kind, Field(description=self.about)
        may_be_null = self.default is None or self.type == "variable"  # a key may come in another way
        return kind | None if may_be_null else kind, Field(self.default, description=self.about, validate_default=True)


_EXTRA = RecipeOption(type="mapping", about="further fields of the request, sent unchanged", default={})
_STREAM = RecipeOption(type="flag", about="ask for the reply as a stream of events", default=False)
_THOUGHTS = RecipeOption(type="flag", about=THOUGHTS_HELP, default=True)


class RecipeFile(StrictModel):
    """A recipe as written. `about` is a phrase for lists. `source` names the specification that the recipe was
    written from, with its version. `notes` say what to know about the API. By its `look`, `harvest probe` recognises
    the API. The recipe changes the recipe `like`, if there is one: a null removes a part of it."""

    format: Literal["harvest-recipe/1"]
    about: str
    source: str
    notes: str
    options: dict[str, RecipeOption | None]
    like: str | None = None
    look: Look = Look()
    http: dict[str, Any] | None = None
    openai: dict[str, Any] | None = None
    streamed: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check_driver(self) -> Self:
        if (self.http is None) == (self.openai is None):
            raise validation_error("a recipe has either a section `http` or a section `openai`")
        return self


class Recipe:
    """A recipe as a driver module: it has `Options`, `LOOK`, `build`, `files` and `further`. `described` has the
    options of `module`, the driver on which the recipe is built."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, Path(str(_FOLDER / f"{name}.yaml"))
        self.file = read_document(self.path).validate_as(RecipeFile)
        self.module: Any = http if self.file.openai is None else openai
        like: Recipe | None = read_recipe(self.file.like) if self.file.like is not None else None
        self.described: dict[str, Any] = _merge(
            like.described if like else {}, self.file.http or self.file.openai or {}
        )
        self.streamed: dict[str, Any] = _merge(like.streamed if like else {}, self.file.streamed or {}, removing=False)
        own = {**(like.file.options if like else {}), **self.file.options}
        self.options: dict[str, RecipeOption] = {
            **{name: option for name, option in own.items() if option is not None},
            **({"stream": _STREAM} if self.streamed else {}),
            "thoughts_apart": _THOUGHTS,
            **({"extra": _EXTRA} if self.module is openai or isinstance(self.described.get("body"), dict) else {}),
        }
        self.LOOK = self.file.look
        fields: Any = {key: option.field() for key, option in self.options.items()}
        self.Options: type[WireOptions] = create_model(
            "Options", __base__=WireOptions, __doc__=f"Options of {self.file.about}.", **fields
        )

    @property
    def address(self) -> str:
        """The template of the URL to which turns are sent, or of the whole API."""
        return str(self.described.get("url", ""))

    def driver_options(self, options: WireOptions) -> HttpOptions | openai.Options:
        """Return the options of the driver `http` or `openai` that follow from the options of the recipe."""
        given = {key: getattr(options, key) for key in self.options}
        if options.auth is not None and options.auth.header_set:  # instead of the key, unless both are given
            keys = (key for key, option in self.options.items() if option.type == "variable")
            given |= {key: None for key in keys if key not in options.model_fields_set}
        described: Mapping[str, Any] = self.described
        if given.get("stream"):
            described = _merge(described, self.streamed)
        filled = {
            key: _fill(value, given, literal=key in ("body", "form", "query")) for key, value in described.items()
        }
        filled = {key: value for key, value in filled.items() if value is not _Missing}
        extra = given.pop("extra", {})
        if self.module is openai:
            filled["extra"] = extra
        elif extra:
            filled["body"] = self._add_extra(filled["body"], extra)
        shared = {key: getattr(options, key) for key in WireOptions.model_fields}
        headers = {**filled.get("headers", {}), **shared.pop("headers")}
        values = {**filled, **shared, "headers": headers, "thoughts_apart": given["thoughts_apart"]}
        made: HttpOptions | openai.Options = Document("", values, {}, {}).validate_as(self.module.Options)
        return made

    def _add_extra(self, body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
        for key in extra:
            if key in body and not (isinstance(body[key], Mapping) and isinstance(extra[key], Mapping)):
                raise InputError(
                    f"{key!r} cannot be given in `extra`: the driver {self.name!r} sends it",
                    advice=f"use the option {key!r}" if key in self.options else "describe the API with driver: http",
                )
        return _merge(body, _literal(extra), removing=False)

    def build(self, options: WireOptions, surroundings: Surroundings) -> Driver:
        """Build the driver. Raises InputError if an environment variable in the options is not set."""
        driver: Driver = self.module.build(self.driver_options(options), surroundings)
        return driver

    def files(self, options: WireOptions, folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the file of the recipe, so that no run is resumed with another version of it, and other files."""
        yield "recipe", self.path
        yield from certificate_files(options, folder)

    def further(self, options: WireOptions, folder: Path) -> Iterator[StrictModel]:
        """Yield the options of the driver, which name the servers and variables that the recipe adds."""
        yield self.driver_options(options)


@cache
def read_recipe(name: str) -> Recipe:
    """Return the shipped recipe called `name`."""
    return Recipe(name)


class _Missing:
    """The value of a part that contains an option without a value."""


def _fill(value: Any, options: Mapping[str, Any], *, literal: bool) -> Any:
    """Replace the placeholders of options. `literal` keeps placeholders in their values from being filled in later."""
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value)
        if whole and whole[1] in options:
            found = options[whole[1]]
            return _Missing if found is None else _literal(found) if literal else found
        names = [name for name in _PLACEHOLDER.findall(value) if name in options]
        if any(options[name] is None for name in names):
            return _Missing
        return _PLACEHOLDER.sub(lambda gap: _inserted(gap[0], options.get(gap[1])), value)
    if isinstance(value, Mapping):
        pairs = {key: _fill(inner, options, literal=literal and key != "env") for key, inner in value.items()}
        kept: Any = {key: inner for key, inner in pairs.items() if inner is not _Missing}
        return _Missing if value and (not kept or pairs.get("env") is _Missing) else kept
    if isinstance(value, (list, tuple)):
        kept = [one for inner in value if (one := _fill(inner, options, literal=literal)) is not _Missing]
        return _Missing if value and not kept else tuple(kept)
    return value


def _inserted(placeholder: str, value: object) -> str:
    if value is None:  # a placeholder of `http`
        return placeholder
    return value if isinstance(value, Target) else quote(str(value), safe="")


def _literal(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _literal(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_literal(inner) for inner in value]
    return LiteralValue(value) if type(value) is str else value


def _merge(first: Mapping[str, Any], second: Mapping[str, Any], *, removing: bool = True) -> dict[str, Any]:
    """Return `first` with the values of `second`, within mappings too. If `removing`, a null removes a value."""
    merged = dict(first)
    for key, value in second.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value, removing=removing) if both else value
    return {key: value for key, value in merged.items() if value is not None or not removing}
