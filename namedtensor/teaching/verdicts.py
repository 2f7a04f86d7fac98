"""Exceptions that end the grading of an answer, with a sentence of feedback."""


class RefusedAnswerError(Exception):
    """The exception for an answer that is not graded, with the reason. The answer does not count as an attempt."""


class WrongAnswerError(Exception):
    """The exception for a wrong answer, with a sentence of feedback and a general description of the mistake."""

    def __init__(self, sentence: str, mistake: str | None = None):
        super().__init__(sentence)
        self.mistake = sentence if mistake is None else mistake
