"""Any document ends in findings or a sentence, within seconds and a gigabyte: never in a traceback.

NAMEDTENSOR_FUZZ_DOCUMENTS is the number of documents; `python tests/fuzzing_documents.py 4711` tries one again.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import pytest
from check_public_documents import documents
from fuzzing_documents import MUTATIONS, confined, document, own_texts, work

COUNT = int(os.environ.get("NAMEDTENSOR_FUZZ_DOCUMENTS", "1000"))
CHUNK = 250


def test_a_document_has_a_number():
    assert document(4711) == document(4711)
    assert len({document(number).data for number in range(100)}) > 90


def test_there_is_enough_to_mutate():
    texts = dict(own_texts())
    assert (
        len(texts) > 15
        and {name.rpartition(".")[2] for name in texts} == {"tex", "md", "nt"}
        and len(set(MUTATIONS)) == 8
    )


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_mutated_documents_end_in_findings_or_a_sentence():
    fresh = multiprocessing.get_context("spawn")
    chunks = [range(start, min(start + CHUNK, COUNT)) for start in range(0, COUNT, CHUNK)]
    failures = []
    with ProcessPoolExecutor(2, mp_context=fresh, initializer=confined) as pool:
        for result, _, _ in pool.map(work, chunks):
            failures += result
    assert not failures, "\n\n".join(f"document {failure.name}\n{failure.why}" for failure in failures[:10])


# ---------------------------------------------------------------------------------------------- the list of public documents
def test_the_list_of_public_documents():
    listed = documents()
    assert len(listed) >= 200 and len(set(listed)) == len(listed)
    assert len({number.repository for number in listed}) >= 15


@pytest.mark.parametrize("ending", [".tex", ".md", ".nt"])
def test_each_kind_of_document_is_listed(ending):
    assert sum(report.path.endswith(ending) for report in documents()) >= 3


def test_a_listed_document_is_a_repository_a_path_and_a_commit():
    for report in documents():
        assert report.repository.count("/") == 1 and not report.path.startswith(("/", ".."))
        assert len(report.commit) == 40 and set(report.commit) <= set("0123456789abcdef")
