"""Mutants that no test can notice, and why: what `mutants.py` does not ask for. Each is named by its file, its line and its change."""

EITHER_WAY = "the steps of a family go up or down: its way is 1 or −1"
EXACT = "2^53 is the same number as a float"
SHALLOW = "any depth far from the end of Python's stack will do"
DEEPER = "the depth of a frame only has to be greater than that of the frame around it"

EQUIVALENT: dict[str, str] = {
    "namedtensor/checking/stacked_families.py: `made = loop_with(checker, unit, low if unit.way > 0 else high, steps)`: "
    "unit.way > 0 → (unit.way >= 0)": EITHER_WAY,
    "namedtensor/checking/stacked_families.py: `elif unit.way > 0:`: unit.way > 0 → (unit.way >= 0)": EITHER_WAY,
    "namedtensor/checking/loops.py: `start = first if way > 0 else 1`: way > 0 → (way >= 0)": EITHER_WAY,
    "namedtensor/checking/loops.py: `if way > 0:`: way > 0 → (way >= 0)": EITHER_WAY,
    "namedtensor/checking/sums.py: `depth = env.depth + 1`: 1 → 2": DEEPER,
    "namedtensor/planning/dtypes.py: `return number if type(number) is int and abs(number) < 2**53 else float(number)`: "
    "abs(number) < 2**53 → (abs(number) <= 2 ** 53)": EXACT,
    "namedtensor/checking/lookup.py: `NESTED = 100  # definitions that may be evaluated inside each other before what they need "
    "is evaluated ahead`: 100 → 101": SHALLOW,
}
