"""Mutants that no test can notice, and why: what `mutants.py` does not ask for. Each is named by its file, its line and its change."""

EQUIVALENT: dict[str, str] = {}
