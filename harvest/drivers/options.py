"""Options that several drivers share: values from the environment, credentials, and settings of the connection to a
server.

The type of a value says whether it names a variable or a server (see `harvest.systems.exposure`). Secrets must not be
written in a file. An option of type `Text` accepts the text itself or `{env: NAME}`. Headers that are known to carry
secrets accept only `{env: NAME}`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from harvest.systems.driver import Surroundings
from harvest.systems.exposure import Proxy as ProxyAddress
from harvest.systems.exposure import ProxyVariable, SecretFile, Target, TokenProgram, Variable
from topics.document import StrictModel, validation_error
from topics.errors import InputError
from topics.target import parse_target

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"})

_SECRET_FIELDS = frozenset({"assertion", "client_assertion", "client_secret", "password", "refresh_token"})

# The names of fields in a query by which keys, tokens and passwords are sent, in any case.
_SECRET_PARAMETER = re.compile(
    r"(?i)(?:(?:access|auth|bearer|id|refresh|session)[_-]?|x-amz-security-)?token|(?:x[_-])?(?:api|subscription)?[_-]?key"
    r"|password|passwd|pwd|(?:client[_-]?)?secret|sig|signature|x-amz-(?:credential|signature)"
)

# The context of the validation of options that a run was played with.
AS_RECORDED = "as recorded"

# The help of the option `thoughts_apart` in every driver that has it.
THOUGHTS_HELP = "separate thoughts in marks such as `<think>` at the beginning of the text from the answer"

_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
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


def _refuse_plain(value: object) -> object:
    if isinstance(value, str):
        raise validation_error("this is a secret: write {env: NAME}, and set that environment variable")
    return value


Secret = Annotated[FromEnvironment, BeforeValidator(_refuse_plain)]


def is_token(name: str) -> bool:
    """Return True if the text can be the name of a header or of a subprotocol (RFC 9110, section 5.6.2)."""
    return _TOKEN.fullmatch(name) is not None


def check_header_name(name: str) -> str:
    if not is_token(name):
        raise validation_error(f"{name!r} is not the name of a header")
    return name


def _check_headers(headers: dict[str, Text]) -> dict[str, Text]:
    for name, value in headers.items():
        check_header_name(name)
        if isinstance(value, FromEnvironment):
            continue
        if name.lower() in SECRET_HEADERS and not _FILLED_IN.fullmatch(value):
            raise validation_error(
                f"header {name} carries a secret: write {{env: NAME}}, and set that environment variable"
            )
        if not _PRINTABLE.fullmatch(value):
            raise validation_error(f"header {name} contains a character that cannot be sent (only printable ASCII can)")
    return headers


def _check_url(url: str, info: ValidationInfo) -> str:
    if _PLACEHOLDER.search(url.partition("://")[2].partition("/")[0]):
        raise validation_error("a URL may have placeholders in its path and query, but not in its host")
    target = parse_target(_PLACEHOLDER.sub("x", url), secret="use a header with {env: NAME}")
    if target.fragment:
        raise validation_error("a URL with a fragment (#…) cannot be requested: remove it")
    check_query(parse_qs(urlsplit(_PLACEHOLDER.sub("", url)).query), info)
    return Target(url)


def check_socket_url(url: str, info: ValidationInfo) -> str:
    """Return the address of a WebSocket as a Target. Refuses the option for any other URL."""
    scheme, _, rest = url.partition("://")
    if scheme not in ("ws", "wss"):
        raise validation_error("not a URL that starts with ws:// or wss://")
    _check_url(f"{scheme.replace('ws', 'http')}://{rest}", info)
    return Target(url)


def check_query(fields: Mapping[str, Any], info: ValidationInfo) -> Mapping[str, Any]:
    """Return the fields of a query unchanged. Refuses the option if one is a secret that is written out. The options of
    a run that is older than this rule are not checked."""
    if info.context == AS_RECORDED:
        return fields
    for name in filter(_SECRET_PARAMETER.fullmatch, fields):
        value = fields[name]
        texts = value if isinstance(value, (list, tuple)) else [value]
        if any(_PLACEHOLDER.sub("", one) for one in texts if isinstance(one, str)):
            raise validation_error(
                f"{name!r} in a query carries a secret: send it in a header, or write query: {{{name}: {{env: NAME}}}} "
                "where there is such an option, and set that environment variable"
            )
    return fields


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
FileName = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)]


class OAuth2(StrictModel):
    """Tokens from a token server (RFC 6749): for a refresh token if there is one, else for the client's credentials."""

    token_url: Url = Field(description="where tokens are asked for")
    client_id: Text | None = Field(None, description="the client's id: text or `{env: NAME}`")
    client_secret: Secret | None = Field(None, description="its secret")
    client_auth: Literal["basic", "body"] = Field(
        "basic", description="send id and secret in the header Authorization, or as fields of the form"
    )
    scope: str | None = Field(None, description="what the token is for, as the server calls it")
    refresh_token: Secret | None = Field(None, description="a refresh token, if the server does not replace it")
    refresh_token_file: Annotated[FileName, AfterValidator(SecretFile)] | None = Field(
        None,
        description="file whose last line is the refresh token; a token that replaces it is added as a new line",
    )
    fields: dict[str, Text] = Field(
        {}, description="further fields of the form, such as `audience`; a `grant_type` here replaces the usual one"
    )

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        if self.refresh_token is not None and self.refresh_token_file is not None:
            raise validation_error("only one of `refresh_token` and `refresh_token_file` can be used")
        if self.client_secret is not None and self.client_id is None:
            raise validation_error("`client_secret` needs `client_id`")
        for name in _SECRET_FIELDS & self.fields.keys():
            if isinstance(self.fields[name], str):
                raise validation_error(f"{name} is a secret: write {{env: NAME}}, and set that environment variable")
        return self


class TokenCommand(StrictModel):
    """A program that prints a token. It inherits only a few environment variables, such as PATH and HOME."""

    argv: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(TokenProgram)] = Field(
        description="the program and its arguments, as a list; no shell reads them. A path starts at the audit file"
    )
    env: dict[str, Text] = Field({}, description="environment variables to set; a value is text or `{env: NAME}`")
    lifetime: Seconds | None = Field(
        None, description="seconds for which a token is used, if the program does not print when it expires"
    )
    timeout: Seconds = Field(60.0, description="seconds until the program must have ended; then it is killed")


class SigV4(StrictModel):
    """Requests signed with AWS Signature Version 4."""

    service: str = Field(min_length=1, description="the name of the service in signatures: `bedrock`, `lex`")
    region: str = Field(min_length=1, description="such as `eu-central-1`")
    access_key: Secret | None = Field(None, description="the access key's id")
    secret_key: Secret | None = Field(None, description="the secret access key")
    session_token: Secret | None = Field(None, description="the token of temporary keys")
    command: TokenCommand | None = Field(
        None, description="instead of keys, a program that prints them, such as `aws configure export-credentials`"
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        keys = (self.access_key, self.secret_key)
        given = self.command is not None
        if (given and any((*keys, self.session_token))) or not (given or all(keys)):
            raise validation_error("give either `access_key` and `secret_key`, or `command`")
        return self


class ClientCertificate(StrictModel):
    """The certificate by which a server recognises this client (TLS client authentication)."""

    certificate: FileName = Field(description="file of the certificate (PEM), with those that vouch for it")
    key: FileName | None = Field(None, description="file of its private key; by default the key is in the same file")
    password: Secret | None = Field(None, description="the password of the key")


class Auth(StrictModel):
    """The ways in which a client identifies itself to a system, apart from fixed headers. Every request to the system
    carries a token or a signature, and every connection, including those to a token server, uses the client
    certificate."""

    oauth2: OAuth2 | None = Field(None, description="tokens from a token server")
    command: TokenCommand | None = Field(None, description="tokens that a program prints")
    sigv4: SigV4 | None = Field(None, description="requests signed for AWS")
    client_cert: ClientCertificate | None = Field(None, description="a client certificate, alone or with one of these")
    header: Annotated[str, AfterValidator(check_header_name)] = Field(
        "Authorization", description="the header that holds the token"
    )
    prefix: str = Field("Bearer ", pattern=f"^{_PRINTABLE.pattern}$", description="what precedes the token there")

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        given = [one for one in (self.oauth2, self.command, self.sigv4) if one is not None]
        if len(given) > 1:
            raise validation_error("only one of `oauth2`, `command` and `sigv4` can be used")
        if not given and self.client_cert is None:
            raise validation_error("give one of `oauth2`, `command`, `sigv4` and `client_cert`")
        return self

    @property
    def header_set(self) -> str:
        """The header added to each request, in lower case, or "" if there is only a client certificate."""
        if self.sigv4 is not None:
            return "authorization"
        return self.header.lower() if self.oauth2 is not None or self.command is not None else ""


class WireOptions(StrictModel):
    """Options of a connection to a server. Certificates are always verified."""

    headers: Headers = Field({}, description="further headers; a value is text or `{env: NAME, prefix: TEXT}`")
    auth: Auth | None = Field(
        None, description="tokens, signatures or a client certificate: see [credentials](#credentials-that-renew)"
    )
    timeout: Seconds = Field(120.0, description="seconds for a complete turn, from the first try to connect")
    connect_timeout: Seconds = Field(10.0, description="seconds for the connection, within `timeout`")
    read_timeout: Seconds | None = Field(
        None, description="longest silence in seconds, within `timeout`; by default as long as `timeout`"
    )
    max_reply: int = Field(8 * 2**20, ge=1, description="bytes of a reply; a longer one is a fault (`too-large`)")
    proxy: Proxy | None = Field(
        None, description="URL of a proxy, or `{env: NAME}`; proxies in the environment are used only when named here"
    )
    ca_file: FileName | None = Field(
        None, description="file of certificates (PEM) to trust instead of the usual ones; relative to the audit file"
    )

    @model_validator(mode="after")
    def _check_auth(self) -> Self:
        if self.auth is not None and self.auth.header_set in {name.lower() for name in self.headers}:
            raise validation_error(f"`auth` sets the header {self.auth.header_set}: remove it from `headers`")
        return self


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


def resolve_texts(values: Mapping[str, Text], surroundings: Surroundings) -> dict[str, str]:
    return {name: resolve_text(value, surroundings) for name, value in values.items()}
