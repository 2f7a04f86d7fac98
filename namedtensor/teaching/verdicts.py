"""Exceptions that end the grading of an answer, with a sentence; some do not count as an attempt."""


class Refused(Exception):
    """An answer that is not compared, with the reason; it does not count as an attempt."""


class Wrong(Exception):
    """A wrong answer, with a sentence that describes it, and a description without details of one test."""

    def __init__(self, sentence: str, mistake: str | None = None):
        super().__init__(sentence)
        self.mistake = sentence if mistake is None else mistake
