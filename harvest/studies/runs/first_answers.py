"""The first answers of a few conversations of each system on each topic, for tests whether texts are alike."""

from recordings.conversations.conversation import Conversation

# More would take seconds to compare and add little.
MOST_ANSWERS = 10  # of a topic and a system


class FirstAnswers:
    """Takes valid conversations in any order, and keeps the first `characters` of the first answers of those with the
    lowest trial numbers."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[int, str]] = {}
        self.characters = 0

    def add(self, conversation: Conversation) -> None:
        if conversation.turns and conversation.turns[0].reply is not None:
            own = self._found.setdefault((conversation.key.system, conversation.key.topic), {})
            own[conversation.key.trial] = text = conversation.turns[0].reply.answer.text
            self.characters += len(text)
            if len(own) > MOST_ANSWERS:
                self.characters -= len(own.pop(max(own)))

    @property
    def texts(self) -> dict[tuple[str, str], list[str]]:
        """The answers by system and topic, in order of their trials."""
        return {name: [own[trial] for trial in sorted(own)] for name, own in self._found.items()}
