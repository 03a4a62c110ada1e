"""Exposures: the code that options run, the servers that they contact, and the environment variables sent there.

A file from elsewhere can name any of these. Option values therefore have the types below, and one pass over the options
finds them (`Exposure.of`). `Surroundings.secret` and the wire refuse everything that was not declared in this way. A
driver that forgets a declaration does not work, so the user always sees the complete list beforehand.
"""

import ipaddress
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from topics.document import StrictModel


class Variable(str):
    """The name of an environment variable whose value is sent to a server or passed to a program."""

    __slots__ = ()


class Target(str):
    """The URL of a server to contact. The URL may contain placeholders, but not in its host."""

    __slots__ = ()


class Proxy(str):
    """The URL of a proxy."""

    __slots__ = ()


class ProxyVariable(str):
    """The name of an environment variable that contains the URL of a proxy."""

    __slots__ = ()


class Function(str):
    """The name of a Python function to import and call."""

    __slots__ = ()


class Program(tuple[str, ...]):
    """A program to start, with its arguments."""

    __slots__ = ()


class TokenProgram(Program):
    """A program, with its arguments, whose output is sent to servers as a token."""

    __slots__ = ()


class SecretFile(str):
    """The name of a file whose content is sent to servers."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Exposure:
    """Everything that one system, or one endpoint of a model, makes this machine do. `who` is the name of the system
    or endpoint. The values of `variables` go to all `targets`, which are URLs, or to `programs`. `proxies` are
    URLs, or `$NAME` for variables that contain the URL of a proxy. `functions` and `programs` are code to run.
    `plug_in` is the installed package of the driver, or "" for a driver of Harvest. The targets also get the
    content of `files` and the output of `token_programs`."""

    who: str
    variables: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    programs: tuple[tuple[str, ...], ...] = ()
    plug_in: str = ""
    files: tuple[str, ...] = ()
    token_programs: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def from_options(cls, who: str, *options: object, plug_in: str = "") -> "Exposure":
        """Collect the declarations of the options, at any depth."""
        found = tuple(_declared_values(options))

        def every(kind: type) -> tuple[str, ...]:
            return tuple(dict.fromkeys(str(one) for one in found if type(one) is kind))

        return cls(
            who,
            variables=every(Variable),
            targets=every(Target),
            proxies=every(Proxy) + tuple(f"${name}" for name in every(ProxyVariable)),
            functions=every(Function),
            programs=tuple(dict.fromkeys(tuple(one) for one in found if isinstance(one, Program))),
            plug_in=plug_in,
            files=every(SecretFile),
            token_programs=tuple(dict.fromkeys(tuple(one) for one in found if isinstance(one, TokenProgram))),
        )

    @property
    def code(self) -> tuple[str, ...]:
        """The code that is run, as phrases for people."""
        functions = (f"the function {name}" for name in self.functions)
        programs = (f"the program {shlex.join(words)}" for words in self.programs)
        return (*([f"the driver of {self.plug_in}"] if self.plug_in else []), *functions, *programs)

    @property
    def origins(self) -> tuple[str, ...]:
        """The scheme, host and port of each server that is contacted."""
        parts = map(urlsplit, self.targets)
        return tuple(dict.fromkeys(f"{one.scheme}://{one.netloc}" for one in parts))

    @property
    def needed(self) -> tuple[str, ...]:
        """All environment variables whose values are used."""
        return (*self.variables, *(one[1:] for one in self.proxies if one.startswith("$")))

    @property
    def other_secrets(self) -> tuple[str, ...]:
        """The secrets, besides the values of variables, that servers receive, as phrases for people."""
        tokens = (f"the token that {shlex.join(words)} prints" for words in self.token_programs)
        return (*(f"the content of {name}" for name in self.files), *tokens)

    @property
    def in_clear(self) -> tuple[str, ...]:
        """The origins that receive secrets unencrypted over a network. A proxy's own password does not count: it goes
        to the proxy named in the same variable, which no file can change."""
        if not self.variables and not self.other_secrets:
            return ()
        through = [one for one in self.proxies if one.startswith("$") or not is_this_machine(urlsplit(one).hostname)]
        plain = (one for one in self.origins if one.startswith(("http://", "ws://")))
        return tuple(one for one in plain if through or not is_this_machine(urlsplit(one).hostname))


def _declared_values(value: object) -> Iterator[object]:
    if isinstance(value, (Variable, Target, Proxy, ProxyVariable, Function, Program, SecretFile)):
        yield value
    elif isinstance(value, StrictModel):
        for name in type(value).model_fields:
            yield from _declared_values(getattr(value, name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _declared_values(one)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for one in value:
            yield from _declared_values(one)


def is_this_machine(host: str | None) -> bool:
    """Return whether data sent to this host stays on this machine. Returns False for names other than `localhost`,
    because they need a lookup and may lead anywhere."""
    if host is None:
        return False
    if host.lower() == "localhost":  # with a trailing dot, a name server is asked
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
