# What people use from Python. Each name is imported when it is first asked for.
from .scores import score as score
from .settings import Settings as Settings
from .swan.schema import Schema as Schema
from .swan.schema import load_schema as load_schema
from .table import ScoreRow as ScoreRow
from .table import ScoreTable as ScoreTable

__all__ = [
    "Schema",
    "ScoreRow",
    "ScoreTable",
    "Settings",
    "load_schema",
    "score",
]
