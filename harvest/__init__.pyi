# What people use from Python. Each name is imported when it is first asked for.
from .audits.audit import Audit as Audit
from .audits.audit import load_audit as load_audit
from .drivers.registry import build_driver as build_driver
from .playing.play import aplay as aplay
from .playing.play import play as play
from .studies.compare.comparison import compare_runs as compare_runs
from .studies.scores.gathered import score_runs as score_runs
from .systems.driver import Capabilities as Capabilities
from .systems.driver import Denied as Denied
from .systems.driver import Driver as Driver
from .systems.driver import DriverError as DriverError
from .systems.driver import Exhibit as Exhibit
from .systems.driver import NotSent as NotSent
from .systems.driver import Opening as Opening
from .systems.driver import Reply as Reply
from .systems.driver import Session as Session
from .systems.driver import Surroundings as Surroundings
from .systems.driver import Unanswered as Unanswered

__all__ = [
    "Audit",
    "Capabilities",
    "Denied",
    "Driver",
    "DriverError",
    "Exhibit",
    "NotSent",
    "Opening",
    "Reply",
    "Session",
    "Surroundings",
    "Unanswered",
    "aplay",
    "build_driver",
    "compare_runs",
    "load_audit",
    "play",
    "score_runs",
]
