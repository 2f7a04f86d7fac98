"""Slips that fit all shapes, in code of PyTorch that has a formula: found, and named by their line."""

import importlib.util
from pathlib import Path

import pytest
from torch_mistakes import SUBJECTS, Subject

import namedtensor as nt

torch = pytest.importorskip("torch")
CASES = [(subject, index) for subject in SUBJECTS for index in range(len(subject.slips))]
QUICK = [CASES[position] for position in (0, 3, 7, 22, 27, 30, 35)]


def compare(subject: Subject, code: str, folder: Path):
    path = folder / "model.py"
    path.write_text(code, encoding="utf-8")
    specification = importlib.util.spec_from_file_location("model", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    torch.manual_seed(0)
    result = getattr(module, subject.name)
    result = result() if isinstance(result, type) else result
    read = nt.from_torch(result, *map(torch.randn, subject.shapes), names=subject.names)
    return read, nt.equivalent(read, subject.formula)


def judged(subject: Subject, position: int, folder: Path) -> tuple[bool, bool]:
    """Whether a slip is found, and at its line."""
    right, wrong = subject.slips[position]
    code = subject.code.replace(right, wrong)
    assert code != subject.code
    changed = {at for at, pair in enumerate(zip(subject.code.splitlines(), code.splitlines()), 1) if pair[0] != pair[1]}
    read, equivalence = compare(subject, code, folder)
    lines = {line.line for line in equivalence.lines} | {remark.source.line for remark in read.remarks}
    return not equivalence, bool(lines & changed)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_right_code_is_its_formula_without_a_remark(subject, tmp_path):
    read, equivalence = compare(subject, subject.code, tmp_path)
    assert equivalence and not read.remarks, str(equivalence)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("subject", "position"), QUICK)
def test_a_slip_is_found_at_its_line(subject, position, tmp_path):
    assert judged(subject, position, tmp_path) == (True, True)


@pytest.mark.sampled(6)
@pytest.mark.slow
def test_of_all_slips_most_are_found_at_their_line(tmp_path):
    folders = [
        tmp_path / str(number) for number in range(len(CASES))
    ]  # of their own: bytecode is kept by the second and size
    for folder in folders:
        folder.mkdir()
    result = [judged(*case, folder) for case, folder in zip(CASES, folders)]
    assert len(result) >= 40 and all(is_found for is_found, _ in result)
    assert sum(at_line for _, at_line in result) >= 36
