# What people use from Python. Each name is imported when it is first asked for.
from .attributes import AttributeSet as AttributeSet
from .errors import HarvestError as HarvestError
from .errors import InputError as InputError
from .errors import Place as Place
from .gold import GoldTable as GoldTable
from .library import load_gold as load_gold
from .library import load_topics as load_topics
from .library import shipped_gold as shipped_gold
from .library import shipped_topics as shipped_topics
from .links import Link as Link
from .topic import Topic as Topic
from .topic import TopicSet as TopicSet
from .topic import TopicType as TopicType

__all__ = [
    "AttributeSet",
    "GoldTable",
    "HarvestError",
    "InputError",
    "Link",
    "Place",
    "Topic",
    "TopicSet",
    "TopicType",
    "load_gold",
    "load_topics",
    "shipped_gold",
    "shipped_topics",
]
