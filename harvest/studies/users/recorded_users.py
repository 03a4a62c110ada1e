"""Rebuild the users of a recorded run from its header."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.library import decode_protocol
from protocols.protocol import Protocol
from recordings.files.json_text import Json
from recordings.log.run_folder import Run
from simulators.registry import build_users, file_hashes
from simulators.scripted import ScriptedUser
from simulators.user import EnumerableUser, User
from topics.document import Document, read_document
from topics.errors import InputError, Place, suggestion


@dataclass(frozen=True, slots=True)
class UsersOfSystem:
    """The users that a system met. `shares` has the share of each user, with sum 1. There is only one user unless
    the run has a population. `group` is the group of the users, or ""."""

    shares: Mapping[str, float]
    group: str = ""


@dataclass(frozen=True, slots=True)
class RecordedUsers:
    """The users of a run. `changes` maps each user's name to the changes that make this user. The name is an arm, a
    member of a population, or "" for the user of the protocol. `met` has the users that each recorded system
    met."""

    run: Run
    changes: Mapping[str, Mapping[str, Json]]
    met: Mapping[str, UsersOfSystem]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the run's users, without the protocol's own user."""
        return tuple(name for name in self.changes if name)

    def build(self, name: str) -> EnumerableUser:
        """Build the named user as in the run. Raises InputError for users that cannot be built or list no choices."""
        changes = self.changes[name]
        built = self._build_user(changes.get("users") or {}, self.run.path.parent / "audit.yaml", changes.get("files"))
        return self._enumerable_user(_with_wording(built, changes, name), name or "of the protocol")

    def find(self, name_or_file: str) -> tuple[str, EnumerableUser]:
        """Return a user and the printed name of this user. `name_or_file` is a user of the run, or a YAML file with
        users of the protocol. Raises InputError for an unknown name."""
        if name_or_file in self.names:
            return name_or_file, self.build(name_or_file)
        path = Path(name_or_file)
        if not path.is_file():
            known = ", ".join(self.names)
            raise InputError(
                f"this run has no user {name_or_file!r}, and there is no such file"
                f"{suggestion(name_or_file, self.names)}",
                place=Place(str(self.run.path)),
                allowed=f"{known}, or a YAML file of users" if known else "a YAML file of users",
            )
        document = read_document(path)
        return path.stem, self._enumerable_user(self._build_user(self._users_in(document), path), path.stem)

    def _users_in(self, document: Document) -> Mapping[str, Any]:
        protocol = self._protocol()
        known = ", ".join(protocol.users)
        if not isinstance(document.value, Mapping) or not document.value:
            raise document.error((), "the file has no users", allowed="NAME: {simulator: …}, with NAME one of " + known)
        for name in document.value:
            if name not in protocol.users:
                what = f"the protocol {protocol.name!r} has no user {name!r}"
                raise document.error((str(name),), what, allowed=known, key=True)
        return document.value

    def _protocol(self) -> Protocol:
        protocol = self.run.header.played_protocol()
        if protocol is None or not protocol.users:
            raise InputError(
                "no simulated user of a protocol took part in this run",
                place=Place(str(self.run.path)),
                advice="use a run whose protocol has users with a policy, because only their probabilities are known",
            )
        return protocol

    def _build_user(self, users: Any, path: Path, files: Json = None) -> ScriptedUser:
        self._protocol()
        value: Any = self.run.header.protocol
        protocol = decode_protocol({**value, "users": {**value["users"], **users}}, str(path))
        built = ScriptedUser(protocol, build_users(protocol))
        audit = self.run.header.audit
        recorded = files or (audit.get("user_files") if isinstance(audit, dict) else None) or {}
        now = file_hashes(protocol)
        for option, content in recorded.items() if isinstance(recorded, dict) else ():
            if now.get(option, content) != content:
                raise InputError(
                    f"the file of {option} has changed since the run was played",
                    place=Place(str(path)),
                    advice="restore the original file",
                )
        return built

    def _enumerable_user(self, user: User, name: str) -> EnumerableUser:
        unlisted = [
            one for one in getattr(user, "users", {}).values() if not callable(getattr(one, "distribution", None))
        ]
        if unlisted or not isinstance(user, EnumerableUser):
            kind = unlisted[0].name if unlisted else user.name
            raise InputError(
                f"the user {name} cannot list what it may do next ({kind})",
                place=Place(str(self.run.path)),
                advice="choose a user with a policy: the probabilities of a model's or a person's words are unknown",
            )
        return user


def _with_wording(built: ScriptedUser, changes: Mapping[str, Json], name: str) -> User:
    if "texts" in changes:
        raise InputError(
            f"the user {name!r} used words from a file, which is not in the run",
            advice="choose a user whose words are in the protocol",
        )
    if not isinstance(changes.get("wording"), dict):
        return built
    from simulators.wrappers import paraphrasing  # imported late: few users are worded

    return paraphrasing.build(Document("run.json", changes["wording"], {}, {}).validate_as(paraphrasing.Options), built)


def recorded_users(run: Run) -> RecordedUsers:
    """Return the users that the run's systems met, according to its header."""
    changes: dict[str, Mapping[str, Json]] = {}
    met: dict[str, UsersOfSystem] = {}
    for system, definition in run.header.systems.items():
        match definition:
            case {"population": {**members}}:
                for member, told in members.items():
                    changes[str(member)] = _dict_at(told, "changes")
                met[system] = UsersOfSystem({str(member): _declared_share(told) for member, told in members.items()})
            case {"arm": str(arm), **rest}:
                changes[arm] = _dict_at(rest, "changes")
                met[system] = UsersOfSystem({arm: 1.0}, str(rest.get("group") or ""))
            case {"group": str(group)}:
                met[system] = UsersOfSystem({"": 1.0}, group)
            case _:
                met[system] = UsersOfSystem({"": 1.0})
    if any("" in one.shares for one in met.values()):
        changes[""] = {}
    return RecordedUsers(run, changes, met)


def _dict_at(value: Json, key: str) -> Mapping[str, Json]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _declared_share(told: Json) -> float:
    share = told.get("share") if isinstance(told, Mapping) else None
    return float(share) if isinstance(share, int | float) else 0.0
