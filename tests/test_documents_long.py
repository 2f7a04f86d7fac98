"""Documents with thousands of formulas: the time to check them grows with their length, not with its square."""

import pytest
from timing import at_most

import namedtensor as nt
from namedtensor.editor.analysis import EditedDocument

COUNT = 1000
LETTERS = "abcdefghijklmnopqrstuvwxyz"
START = "Let $x \\in \\reals^{\\name{a}}$.\n\n"


def word(number):
    """Return a name of four letters that no other number has."""
    return "w" + "".join(LETTERS[number // 26**slot % 26] for slot in range(3))


DOCUMENTS = {
    "one name with subscripts": [f"y_{{{number}}} = x + {number}" for number in range(COUNT)],
    "different names": [f"\\mathrm{{{word(number)}}} = x + {number}" for number in range(COUNT)],
    "each uses the one before": ["y_{0} = x", *(f"y_{{{at + 1}}} = y_{{{at}}} + 1" for at in range(COUNT))],
    "functions": [f"f_{{{number}}}(u) = u + 1" for number in range(COUNT)],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_many_definitions_is_checked_in_seconds(name):
    text = START + "".join(f"$$ {formula} $$\n\n" for formula in DOCUMENTS[name])
    document = EditedDocument("long.md", lambda path: None)
    with at_most(5):
        document.update(text)
    assert not document.problems and document.regions


def test_a_long_sum_in_a_document_is_checked_in_seconds():
    text = START + f"$$ y = {' + '.join(['x'] * 3000)} $$\n"
    with at_most(6):
        assert nt.check_document(text, "long.md").ok
