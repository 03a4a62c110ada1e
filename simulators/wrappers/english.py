"""English words for the wording rules: short lists, so that they can be read. Other words are left alone."""

from collections.abc import Mapping
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words whose loss would change the need. With a straight apostrophe.
NEGATIONS = _words(
    """
    aren't barely but can't cannot couldn't didn't doesn't don't except excluding hadn't hardly hasn't haven't isn't
    mustn't neither never no nobody none nor not nothing nowhere only shouldn't unless wasn't weren't without won't
    wouldn't
    """
)

NUMBER_WORDS = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half
    quarter dozen once twice first second third fourth fifth
    """
)

# Words that a keyword query leaves out. No negations.
FUNCTION_WORDS = _words(
    """
    a an the this that these those of to in on at by for from with about as is are was were be been am do does did can
    could will would shall should may might must i i'm i'd me my we us our you your it its he she they them his her
    their there here and or so if then please which who whom whose what when where how that's what's some any have has
    had
    """
)

# Words that open a sentence with a capital without being names.
OPENERS = (
    FUNCTION_WORDS
    | NEGATIONS
    | _words(
        """
        add adhere also answer ask because before begin compare describe explain find first format get give go good
        great hello help hey hi just keep let list look make maybe more most name need next now ok okay other perhaps
        pick rather read recommend reply repeat say search see select show since start suggest summarise summarize
        sure take tell thank thanks today try use wait want well while why wow yes yet
        """
    )
)

# Words and their synonyms in requests. Not every sense fits: read some turns before trusting a rate.
SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "answer": ("reply",),
        "best": ("top",),
        "big": ("large",),
        "brief": ("short",),
        "buy": ("purchase", "get"),
        "cheap": ("inexpensive", "affordable"),
        "concerning": ("about",),
        "currently": ("now",),
        "describe": ("outline",),
        "easy": ("simple",),
        "explain": ("describe",),
        "famous": ("well-known",),
        "fast": ("quick",),
        "feature": ("include", "involve"),
        "featuring": ("with", "including"),
        "film": ("movie",),
        "films": ("movies",),
        "find": ("look up", "locate"),
        "give": ("provide",),
        "good": ("decent", "fine"),
        "help": ("assist",),
        "information": ("details",),
        "list": ("name", "enumerate"),
        "movie": ("film",),
        "movies": ("films",),
        "need": ("require",),
        "picture": ("image",),
        "popular": ("well-liked",),
        "quick": ("fast",),
        "recent": ("latest",),
        "recommend": ("suggest",),
        "researchers": ("scientists", "academics"),
        "show": ("present",),
        "simple": ("easy",),
        "start": ("begin",),
        "suggest": ("recommend",),
        "videos": ("clips",),
        "want": ("would like",),
    }
)

POLITE_WORDS = ("please", "thank", "would you", "could you", "kindly", "excuse me")
POLITE_OPENINGS = ("Hello. ", "Hi there. ", "Good day. ", "Excuse me. ")
POLITE_CLOSINGS = (" Thank you.", " Thanks.", " Thank you in advance.", " Many thanks.")
