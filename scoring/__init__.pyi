# What people use from Python. Each name is imported when it is first asked for.
from .figure import Figure as Figure
from .library import declared as declared
from .material import Material as Material
from .measure import Declaration as Declaration
from .measure import Measure as Measure
from .measure import Parameter as Parameter
from .scores import score as score
from .settings import Settings as Settings
from .swan.schema import Schema as Schema
from .swan.schema import load_schema as load_schema
from .table import ScoreRow as ScoreRow
from .table import ScoreTable as ScoreTable

__all__ = [
    "Declaration",
    "Figure",
    "Material",
    "Measure",
    "Parameter",
    "Schema",
    "ScoreRow",
    "ScoreTable",
    "Settings",
    "declared",
    "load_schema",
    "score",
]
