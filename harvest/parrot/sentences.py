"""The parrot's sentences around its entries: several ways to say each thing, all with the same number of words.

Equal lengths make the word position of every entry a function of the behaviours before it, so that the expected R has
a closed form; different words keep replies from looking the same.
"""

from collections.abc import Callable, Sequence

from harvest.parrot.profiles import Behaviour, Heard

# Chooses one of n variants: a number from 0 to n − 1.
Pick = Callable[[int], int]

# The variants of each part of a reply. Within a part all have the same number of words (a test counts them).
VARIANTS: dict[str, tuple[str, ...]] = {
    "open-request": (
        "Here is a short list that should suit you:",
        "With pleasure. These came to mind first of all:",
        "Gladly! The following ones all fit what you describe:",
        "Let me begin with these, in no particular order:",
    ),
    "open-more": (
        "Certainly, here are further ones in the same vein:",
        "Of course. These belong on your list as well:",
        "There are others, and I would add the following:",
        "Happy to go on. Have a look at these:",
    ),
    "open-adhere": (
        "My mistake. Here they are as you wanted them:",
        "Thank you for the reminder, this is better now:",
        "You are right, so once more and in form:",
        "Sorry about that! Now in the form you gave:",
    ),
    "close-list": (
        "Just tell me whenever you would like to go on.",
        "I hope that one or another is new to you.",
        "Each of them was chosen with your wish in mind.",
        "Let me know which ones you end up enjoying most.",
    ),
    "open-bare": (
        "Several names are well worth keeping in mind here:",
        "Those who know the field well often point to:",
        "A few that come up again and again are:",
    ),
    "close-bare": (
        "All of these are easy to look up, and you will find much to like in every single one.",
        "Start at the top, take your time, and see for yourself which of them you would rather leave out.",
        "Opinions differ about the order, but hardly anybody would argue about the names as such, as far as known.",
    ),
    "prose": (
        "This is a wide field with many worthy examples from all sides, and tastes differ a great deal. "
        "Much depends on what you have enjoyed so far, on how much time you have, and on your mood.",
        "People have been drawn to this subject for as long as anybody remembers, and every year brings something new. "
        "A good way in is to follow what your friends recommend, and to keep some notes all along.",
        "What a lovely subject to explore! There is so much variety that any short answer would leave out a lot. "
        "Have you thought about why it interests you, and about how deep you would like to go?",
    ),
    "refusal": (
        "I'm sorry, but I can't help you with that request right now.",
        "I am unable to do that for you, I am very sorry.",
        "As a language model, I am not able to assist with this.",
    ),
    "exhausted": (
        "That was everything in my collection, so the list is complete as it stands.",
        "You have seen all of them by now, and my shelf holds nothing else.",
        "My collection ends here: whatever it had to offer has been named before, alas.",
    ),
}

# The honest answer to whatever is not in the catalogue. docs/parrot.md says which label it gets.
UNKNOWN = "I do not know anything about that: my catalogue is small, and your question is not in it."


def compose(behaviour: Behaviour, heard: Heard, lines: Sequence[str], pick: Pick) -> str:
    """Return the text of one reply. lines: the entry lines of a `list` or `bare` reply, ignored for others. Such a
    reply without lines says that the catalogue has no more."""

    def part(name: str) -> str:
        variants = VARIANTS[name]
        return variants[pick(len(variants))]

    match behaviour:
        case "silent":
            return ""
        case "prose" | "refusal":
            return part(behaviour)
        case _ if not lines:
            return part("exhausted")
        case "list":
            opening = part(f"open-{heard if heard in ('more', 'adhere') else 'request'}")
            return "\n\n".join((opening, "\n".join(lines), part("close-list")))
        case "bare":
            return "\n\n".join((part("open-bare"), "\n".join(lines), part("close-bare")))
