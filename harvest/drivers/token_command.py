"""Tokens and keys that a program prints: either alone on a line, or in a JSON object with the time of expiry.

The objects are those of `gcloud`, `az`, token servers and AWS's `credential_process`. The program is started for each
token, and reads nothing.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from harvest.drivers.current_key import Issued
from harvest.drivers.oauth2 import is_sendable, seconds_of
from harvest.drivers.options import TokenCommand, resolve_texts
from harvest.drivers.process import Program, find_program, program_environment
from harvest.drivers.received import excerpt
from harvest.drivers.sigv4 import AwsKeys
from harvest.systems.driver import Denied, NotSent, Surroundings, Unanswered
from recordings.files.times import zoned_seconds

_Key = TypeVar("_Key")
_MOST_OUTPUT = 2**20  # bytes
_TOKEN_KEYS = ("access_token", "accessToken", "token")
# A moment as seconds since 1970, or as ISO 8601 with its offset. `expiresOn` of `az` has no offset, and is not read.
_EXPIRY_KEYS = ("expires_on", "expiry", "expires_at", "Expiration")


def printed_token(options: TokenCommand, surroundings: Surroundings) -> Callable[[], Awaitable[Issued[str]]]:
    """Return a source of tokens that runs the program. Raises InputError for an unset variable."""
    run = _runner(options, surroundings)

    async def obtain() -> Issued[str]:
        text = await run()
        value = _json_object(text)
        token = next((value[key] for key in _TOKEN_KEYS if key in value), None) if value else text.strip()
        if not is_sendable(token):
            allowed = f"one token alone, or JSON with {' or '.join(_TOKEN_KEYS)}"
            raise Denied("no-token", f"{options.argv[0]} did not print a token ({allowed})")
        surroundings.secrets.add(token)
        return _issued(token, value, options, surroundings)

    return obtain


def printed_keys(options: TokenCommand, surroundings: Surroundings) -> Callable[[], Awaitable[Issued[AwsKeys]]]:
    """Return a source of AWS keys that runs the program. Raises InputError for an unset variable."""
    run = _runner(options, surroundings)

    async def obtain() -> Issued[AwsKeys]:
        value = _json_object(await run())
        keys = [value.get(key) or "" for key in ("AccessKeyId", "SecretAccessKey", "SessionToken")]
        found = [key for key in keys if is_sendable(key)]
        if found != [key for key in keys if key] or len(found) < 2 or not all(keys[:2]):
            raise Denied("no-token", f"{options.argv[0]} printed no JSON with AccessKeyId and SecretAccessKey")
        surroundings.secrets.update(found)
        return _issued(AwsKeys(*found), value, options, surroundings)

    return obtain


def _runner(options: TokenCommand, surroundings: Surroundings) -> Callable[[], Awaitable[str]]:
    environment = program_environment(resolve_texts(options.env, surroundings), surroundings.environment)

    async def run() -> str:
        """Return what the program prints. Raises Denied and NotSent, whose messages never quote what it printed."""
        name = options.argv[0]
        argv = (find_program(name, surroundings.folder, environment), *options.argv[1:])
        program = await Program.start(argv, surroundings.folder, environment, _MOST_OUTPUT)
        try:
            async with asyncio.timeout(options.timeout):
                program.write(b"", last=True)
                await program.wait_for(lambda: False)
                await program.wait_until_ended()
            if program.exit_code != 0:
                lines = program.pop_stderr().decode("utf-8", "replace").split("\n")
                said = excerpt(next((line for line in reversed(lines) if line.strip()), ""))
                raise Denied(
                    "no-token", f"{name} ended with the code {program.exit_code}" + (f": {said}" if said else "")
                )
            return bytes(program.output).decode("utf-8", "replace")
        except Unanswered:
            raise Denied("no-token", f"{name} printed more than {_MOST_OUTPUT} bytes") from None
        except TimeoutError:
            raise NotSent("no-token", f"{name} printed no token within {options.timeout:g} s and was killed") from None
        finally:
            await program.kill()

    return run


def _json_object(text: str) -> Mapping[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _issued(key: _Key, value: Mapping[str, object], options: TokenCommand, surroundings: Surroundings) -> Issued[_Key]:
    lifetime = seconds_of(value.get("expires_in"))
    if lifetime is None:
        now = surroundings.clock.now()
        told = next((value[name] for name in _EXPIRY_KEYS if value.get(name) is not None), None)
        moment = seconds_of(told)
        if moment is None:
            moment = zoned_seconds(str(told))
        lifetime = options.lifetime if moment is None else max(0.0, moment - now.timestamp())
    return Issued(key, lifetime)
