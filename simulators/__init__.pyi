# What people use from Python. Each name is imported when it is first asked for.
from .conformance import assert_conforms as assert_conforms
from .registry import build_user as build_user
from .registry import build_users as build_users
from .scripted import ScriptedUser as ScriptedUser
from .user import Chance as Chance
from .user import EnumerableUser as EnumerableUser
from .user import Observation as Observation
from .user import Scenario as Scenario
from .user import Streams as Streams
from .user import User as User

__all__ = [
    "Chance",
    "EnumerableUser",
    "Observation",
    "Scenario",
    "ScriptedUser",
    "Streams",
    "User",
    "assert_conforms",
    "build_user",
    "build_users",
]
