# What people use from Python. Each name is imported when it is first asked for.
from .answer import Answer as Answer
from .answer import Exchange as Exchange
from .library import load_protocol as load_protocol
from .library import shipped_protocols as shipped_protocols
from .protocol import Protocol as Protocol
from .route import Evidence as Evidence
from .route import Route as Route
from .route import Say as Say
from .route import Stop as Stop
from .rules.rule import Rule as Rule
from .rules.rule import Sight as Sight
from .rules.rule import Verdict as Verdict

__all__ = [
    "Answer",
    "Evidence",
    "Exchange",
    "Protocol",
    "Route",
    "Rule",
    "Say",
    "Sight",
    "Stop",
    "Verdict",
    "load_protocol",
    "shipped_protocols",
]
