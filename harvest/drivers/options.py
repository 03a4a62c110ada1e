"""Options that several drivers share: values from the environment, and settings of the connection to a server.

The type of a value says whether it names a variable or a server (see `harvest.systems.exposure`). Secrets must not be
written in a file. An option of type `Text` accepts the text itself or `{env: NAME}`. Headers that are known to carry
secrets accept only `{env: NAME}`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from harvest.systems.driver import Surroundings
from harvest.systems.exposure import Proxy as ProxyAddress
from harvest.systems.exposure import ProxyVariable, Target, Variable
from topics.document import StrictModel, validation_error
from topics.errors import InputError
from topics.target import parse_target

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"})

# The help of the option `thoughts_apart` in every driver that has it.
THOUGHTS_HELP = "separate thoughts in marks such as `<think>` at the beginning of the text from the answer"

_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")
_FILLED_IN = re.compile(r"(?:[A-Za-z]+ )?\{\{[^{}]*\}\}")  # a scheme, and a value from an earlier reply


def _check_variable(name: str) -> str:
    if not _VARIABLE_NAME.fullmatch(name):
        # Not repeated in the message: a user who mistakes `env` for the value writes the secret here.
        raise validation_error("the value is not the name of an environment variable (letters, digits and _)")
    return Variable(name)


VariableName = Annotated[str, AfterValidator(_check_variable)]


class FromEnvironment(StrictModel):
    """A value from the environment variable `env`, after the text `prefix` (such as `Bearer `)."""

    env: VariableName
    prefix: str = ""


Text = str | FromEnvironment


def _check_headers(headers: dict[str, Text]) -> dict[str, Text]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise validation_error(f"{name!r} is not the name of a header")
        if isinstance(value, FromEnvironment):
            continue
        if name.lower() in SECRET_HEADERS and not _FILLED_IN.fullmatch(value):
            raise validation_error(
                f"header {name} carries a secret: write {{env: NAME}}, and set that environment variable"
            )
        if not _PRINTABLE.fullmatch(value):
            raise validation_error(f"header {name} contains a character that cannot be sent (only printable ASCII can)")
    return headers


def _check_url(url: str) -> str:
    if _PLACEHOLDER.search(url.partition("://")[2].partition("/")[0]):
        raise validation_error("a URL may have placeholders in its path and query, but not in its host")
    if parse_target(_PLACEHOLDER.sub("x", url), secret="use a header with {env: NAME}").fragment:
        raise validation_error("a URL with a fragment (#…) cannot be requested: remove it")
    return Target(url)


def _check_proxy(value: Text) -> Text:
    # Checked before parsing, because a parser's message may repeat the password in the URL.
    if "@" in (value if isinstance(value, str) else value.prefix):
        raise validation_error(
            "a proxy's user name and password must not be written in a file or a command: put its URL into an "
            "environment variable, and write {env: NAME} (in a command env:NAME)"
        )
    if isinstance(value, str):
        return ProxyAddress(value)
    return value.model_copy(update={"env": ProxyVariable(value.env)})


Headers = Annotated[dict[str, Text], AfterValidator(_check_headers)]
Url = Annotated[str, AfterValidator(_check_url)]
# A proxy's URL without user name and password, or the variable that holds the URL with both.
Proxy = Annotated[Text, AfterValidator(_check_proxy)]
Seconds = Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)]


class WireOptions(StrictModel):
    """Options of a connection to a server. Certificates are always verified."""

    headers: Headers = Field({}, description="further headers; a value is text or `{env: NAME, prefix: TEXT}`")
    timeout: Seconds = Field(120.0, description="seconds for a complete turn, from the first try to connect")
    connect_timeout: Seconds = Field(10.0, description="seconds for the connection, within `timeout`")
    read_timeout: Seconds | None = Field(
        None, description="longest silence in seconds, within `timeout`; by default as long as `timeout`"
    )
    max_reply: int = Field(8 * 2**20, ge=1, description="bytes of a reply; a longer one is a fault (`too-large`)")
    proxy: Proxy | None = Field(
        None, description="URL of a proxy, or `{env: NAME}`; proxies in the environment are used only when named here"
    )
    ca_file: str | None = Field(
        None, description="file of certificates (PEM) to trust instead of the usual ones; relative to the audit file"
    )


def certificate_files(options: WireOptions, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the file of trusted certificates. Drivers with these options use this as their function `files`."""
    if options.ca_file is not None:
        yield options.ca_file, folder / options.ca_file


def resolve_text(value: Text, surroundings: Surroundings) -> str:
    """Return the text, or the variable's value as a registered secret. Raises InputError for an unset variable."""
    if isinstance(value, str):
        return value
    return value.prefix + sendable_secret(value.env, surroundings)


def sendable_secret(variable: str, surroundings: Surroundings) -> str:
    """Return the secret in `variable`. Raises InputError if the variable is not set or cannot be sent in a header."""
    secret = surroundings.secret(variable)
    if not _PRINTABLE.fullmatch(secret):
        raise InputError(
            f"system {surroundings.system!r}: the value of {variable} contains a character that cannot be sent",
            allowed="printable ASCII",
            advice="look for a line break at its end",
        )
    return secret


def resolve_headers(headers: Mapping[str, Text], surroundings: Surroundings) -> dict[str, str]:
    return {name: resolve_text(value, surroundings) for name, value in headers.items()}
