"""Verdicts that end the grading of an answer before it is right: a sentence, and whether the answer counts as a try."""


class Refused(Exception):
    """An answer that is not compared at all, with the sentence that says why; it costs no try."""


class Wrong(Exception):
    """An answer that is wrong, with the sentence that says how."""
