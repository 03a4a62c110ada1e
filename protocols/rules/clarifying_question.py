"""`clarifying_question`: the answer asks the user for necessary information, and delivers nothing."""

from typing import ClassVar

from protocols.questions import clarifying_question
from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, span


class ClarifyingQuestion(AnswerRule):
    """Holds if the answer is a clarifying question (`protocols.questions`). Evidence: the sentence that asks. No
    options."""

    version: ClassVar[str] = "clarifying_question/3"

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        question = clarifying_question(sight.answer)
        if question is None:
            return Verdict(False, (absence("a clarifying question", "the answer asks nothing, offers, or delivers"),))
        note = "asks the user" + (", for yes or no or a choice" if question.closed else "")
        # Quotations are removed from the sentence, and a list or a Greek ; may be written differently in the answer.
        start = text.find(question.text)
        if start < 0:
            return Verdict(True, (absence(question.text, note),))
        return Verdict(True, (span(text, start, start + len(question.text), note),))
