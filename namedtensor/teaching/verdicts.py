"""Verdicts that end the grading of an answer before it is right: a sentence, and whether the answer counts as a try."""


class Refused(Exception):
    """An answer that is not compared at all, with the sentence that explains why; it costs no try."""


class Wrong(Exception):
    """A wrong answer, with the sentence that describes it, and the description without the numbers of one case."""

    def __init__(self, sentence: str, mistake: str | None = None):
        super().__init__(sentence)
        self.mistake = sentence if mistake is None else mistake
