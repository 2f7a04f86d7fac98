"""Mutants that no test can notice, and why: what `mutants.py` does not ask for. Each is named by its file, its line and its change."""

EITHER_WAY = "the steps of a family go up or down: its direction is 1 or −1"
SHALLOW = "any depth far from the end of Python's stack will do"
DEEPER = "the depth of a frame only has to be greater than that of the frame around it"
FAR = "the number is far from 0: beyond the range of integers"
BIG = "a bound only has to stay small, and no dtype has integers near it"
ROW = "a row is nothing, and then there is nothing to cut, or it has the two bytes of one number at least"

EQUIVALENT: dict[str, str] = {
    "namedtensor/checking/stacked_families.py: `loop = loop_with(checker, recurrence, low if recurrence.direction > 0 else high, steps)`: "
    "recurrence.direction > 0 → (recurrence.direction >= 0)": EITHER_WAY,
    "namedtensor/checking/stacked_families.py: `elif recurrence.direction > 0:`: "
    "recurrence.direction > 0 → (recurrence.direction >= 0)": EITHER_WAY,
    "namedtensor/checking/recurrences.py: `known, back = self.known, 1 if self.direction > 0 else 0`: "
    "self.direction > 0 → (self.direction >= 0)": EITHER_WAY,
    "namedtensor/checking/loops.py: `start = first if direction > 0 else 1`: direction > 0 → (direction >= 0)": EITHER_WAY,
    "namedtensor/checking/loops.py: `if direction > 0:`: direction > 0 → (direction >= 0)": EITHER_WAY,
    "namedtensor/planning/regions.py: `rows = max(least, target // max(1, later))`: 1 → 2": ROW,
    "namedtensor/checking/sums.py: `depth = env.depth + 1`: 1 → 2": DEEPER,
    "namedtensor/checking/lookup.py: `MAX_NESTED_DEFINITIONS = 100  # evaluated inside each other, before what they need is "
    "evaluated ahead`: 100 → 101": SHALLOW,
    "namedtensor/planning/whole_numbers.py: `else 1 if value > 0 else -1 for value in held(b, arguments, "
    "b.target.default_whole)]  # fmt: skip`: 0 → 1": FAR,
    "namedtensor/planning/intervals.py: `MAX_BOUND = 2**1000  # beyond, a bound is none`: 1000 → 1001": BIG,
}
