"""The one cache: its limits, threads that ask at the same time, interrupts at each of its lines; and who may keep what."""

import ast
import gc
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grammar.cache import Cache, cached_property, caches
from grammar.locks import CACHES

ROOT = Path(__file__).parent.parent


class Heavy:
    def __init__(self, nbytes):
        self.nbytes = nbytes


def weighed(limit=100, byte_limit=100):
    return Cache("of a test", limit, lambda value: value.nbytes, byte_limit)


# ---------------------------------------------------------------------------------------------------------------- limits
def test_the_oldest_go_first():
    cache = Cache("of a test", 3)
    for number in range(5):
        cache.store(number, str(number))
    assert [*cache] == [2, 3, 4] and cache.get(0) is None and 0 not in cache
    assert cache.store(2, "2") == "2" and [*cache] == [3, 4, 2]
    assert cache.get(3) == "3" and [*cache] == [3, 4, 2]
    cache.store(5, "5")
    assert cache.values() == ["4", "2", "5"] and len(cache) == 3


def test_bytes_are_counted_once_for_a_value_under_several_keys():
    cache, shared = weighed(), Heavy(40)
    cache.store("a", shared)
    cache.store("b", shared)
    assert cache.bytes == 40
    cache.store("c", Heavy(50))
    cache.store("d", Heavy(50))
    assert [*cache] == ["c", "d"] and cache.bytes == 100
    cache.store("large", Heavy(1000))
    assert [*cache] == ["large"] and cache.bytes == 1000
    cache.store("large", Heavy(1))
    assert cache.bytes == 1
    cache.clear()
    assert (len(cache), cache.bytes) == (0, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("freeze_objects")
def test_all_caches_are_listed_with_their_limits():
    cache = Cache("a cache of a test", 7)
    listed = [other for other in caches() if other.name.endswith("of a test")]
    assert cache in listed and cache.limit == 7
    assert all(len(other) <= other.limit for other in caches())
    del cache, listed
    gc.collect()
    assert not [other for other in caches() if other.name.startswith("a cache of a test")]


# --------------------------------------------------------------------------------------------------------------- threads
def test_threads_that_build_at_the_same_time_all_get_the_first():
    table, barrier = Cache("of a test", 100), threading.Barrier(8)

    def build():
        barrier.wait()  # each builds: nobody waits for another
        return Heavy(1)

    with ThreadPoolExecutor(8) as pool:
        result = [*pool.map(lambda _: table.get_or_build("key", build), range(8))]
    assert len({id(item) for item in result}) == 1


def test_threads_that_pass_the_limit_together_do_not_disturb_each_other():
    cache = weighed(limit=5, byte_limit=50)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(thread):
        for number in range(1500):
            assert cache.get_or_build((number * thread) % 11, lambda: Heavy(9)).nbytes in (8, 9)
            cache.get(number % 7)
            cache.store(number % 13, Heavy(8))
            assert [*cache] and cache.values()

    try:
        with ThreadPoolExecutor(8) as pool:
            [*pool.map(work, range(8))]
    finally:
        sys.setswitchinterval(interval)
    assert len(cache) <= 5 and cache.bytes == sum(item.nbytes for item in cache.values()) <= 50


def test_a_property_is_built_once_and_needs_no_lock():
    class Asked:
        @cached_property
        def value(self):
            """What it is."""
            barrier.wait()
            return Heavy(1)

    asked, barrier = Asked(), threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        heavies = [*pool.map(lambda _: asked.value, range(4))]
    assert len({id(heavy) for heavy in heavies}) == 1 and asked.value is heavies[0]
    assert Asked.value.__doc__ == "What it is."


# ------------------------------------------------------------------------------------------------------------ interrupts
def interrupted_at(step, work):
    """Whether a KeyboardInterrupt was raised before the line of `cache.py` or `locks.py` that is the `step`th to run."""
    count = 0

    def tracer(frame, event, _):
        nonlocal count
        if not frame.f_code.co_filename.endswith(("grammar/cache.py", "grammar/locks.py")):
            return None
        count += event == "line"
        if event == "line" and count == step:
            raise KeyboardInterrupt
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def is_free(lock):
    """Whether another thread can take it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: lock.acquire(timeout=5) and not lock.release()).result()


def test_an_interrupt_at_any_step_leaves_a_cache_that_works():
    for step in range(1, 1000):
        cache, shared = weighed(2), Heavy(30)

        def work(cache=cache, shared=shared):
            cache.get_or_build(1, lambda: Heavy(30))
            cache.store(2, shared)
            cache.store(3, shared)
            cache.store(2, Heavy(5))
            cache.store(3, Heavy(90))

        hit = interrupted_at(step, work)
        assert is_free(CACHES)
        assert cache.bytes == sum({id(item): item.nbytes for item in cache.values()}.values())
        assert cache.get_or_build("next", lambda: Heavy(1)).nbytes == 1
        if not hit:
            break
    assert 50 < step < 999


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ValueError])
def test_what_is_not_built_is_not_published(problem):
    cache = Cache("of a test", 3)

    def fails():
        raise problem

    with pytest.raises(problem):
        cache.get_or_build("key", fails)
    assert "key" not in cache and cache.get_or_build("key", lambda: 1) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_waits_for_the_lock():
    held, done = threading.Event(), threading.Event()

    def hold():
        with CACHES:
            held.set()
            done.wait(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        os._exit(0 if Cache("of a child", 1).store(1, "one") == "one" else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ------------------------------------------------------------------------------------------------------- who keeps what
FILES = [path for name in ("grammar", "namedtensor", "transformer") for path in (ROOT / name).rglob("*.py")]
EMPTY = re.compile(r"(dict|set|list|OrderedDict|defaultdict|WeakKeyDictionary|WeakValueDictionary)\b")
TABLES = {  # filled while modules are imported or by tests, or hooks; what is asked for again is in a Cache
    "CHECKS", "CREATED_OPERATORS", "DOCUMENT", "NONE", "NOTHING", "NO_DERIVATIVES", "NO_OPTIONS", "OPERATIONS", "REGISTRY", "RULES", "SPECIAL", "USER_FUNCTIONS", "_CACHES", "_CALLBACKS", "_FORKING", "_FREE", "_LENGTHS",
    "_CLASSES", "_MAPPED", "_OTHERS", "_REGISTERED", "_SEEN", "after_pass",
}  # fmt: skip


def is_empty_table(value):
    if isinstance(value, (ast.Dict, ast.List)):
        return not (value.keys if isinstance(value, ast.Dict) else value.elts)
    return isinstance(value, ast.Call) and not value.args and EMPTY.match(ast.unparse(value.func)) is not None


@pytest.mark.slow
def test_no_module_has_a_table_of_its_own_that_grows_while_it_is_used():
    grown = set()
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and is_empty_table(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                grown |= {ast.unparse(target) for target in targets}
    assert grown <= TABLES


@pytest.mark.slow
def test_functions_are_cached_with_a_limit_and_properties_without_a_lock():
    wrong = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                wrong += [f"{path}: cached_property" for name in node.names if name.name == "cached_property"]
            if isinstance(node, ast.FunctionDef):
                for name in map(ast.unparse, node.decorator_list):
                    if name in ("cache", "functools.cache", "lru_cache") and (node.args.args or node.args.vararg):
                        wrong.append(f"{path}: {node.name} is cached without a limit")
                    if name.startswith("lru_cache(") and not re.search(r"maxsize=[\w()]+", name):
                        wrong.append(f"{path}: {node.name} says no limit")
    assert not wrong


def test_nothing_is_dropped_from_a_dictionary_by_hand():
    assert not [path for path in FILES if "pop(next(iter(" in path.read_text(encoding="utf-8")]
