"""Processes of our own: no file of the working directory is a module, they end in time and with who started them, and their
memory is limited."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from namedtensor.core import processes
from namedtensor.core.processes import AnsweringProcess, EndedError, LateError

ROOT = Path(__file__).parent.parent
STRANGERS = (
    "queue", "random", "json", "subprocess", "threading", "warnings", "string", "numpy", "lark", "namedtensor", "grammar",
    "sitecustomize", "secrets", "socketserver", "http", "webbrowser", "argparse", "difflib", "pickle", "base64",
)  # fmt: skip
ECHO = """
    import os, time

    def prepare():
        print("what is printed is no answer")

    def answer_line(line):
        word, _, rest = line.decode().partition(" ")
        if word == "sleep":
            time.sleep(float(rest))
        if word == "die":
            os._exit(3)
        if word == "hold":
            try:
                return str(len(bytes(int(rest)))).encode()
            except MemoryError:
                return b"no memory"
        if word == "loop":
            while True:
                pass
        return (word + " " + rest + " " + str(os.getpid())).encode()
"""


@pytest.fixture
def echo(tmp_path, monkeypatch):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "echoing.py").write_text(textwrap.dedent(ECHO), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    result = []

    def make(**given):
        result.append(AnsweringProcess("echoing", **given))
        return result[-1]

    yield make
    for item in result:
        item.close()


@pytest.fixture
def among_strangers(tmp_path, monkeypatch):
    """A working directory with files that say so where they are imported, and which modules did."""
    folder, seen = tmp_path / "strangers", tmp_path / "seen"
    folder.mkdir()
    for name in STRANGERS:
        text = (
            f"open({str(seen)!r}, 'a').write(__name__ + '\\n')\nraise SystemError('a file of the working directory')\n"
        )
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join(["", str(ROOT), ""])
    )  # an empty part stands for the working directory
    yield lambda: seen.read_text("utf-8") if seen.exists() else ""


def test_the_playground_imports_no_file_of_the_working_directory(among_strangers):
    from namedtensor.webpage.worker import Worker

    worker = Worker()
    try:
        text = b'{"ask": "check", "text": "softmax_{a} X"}'
        assert b'"ok": true' in worker.answer(text) and b'"ok": true' in worker.answer(b'{"ask": "examples"}')
    finally:
        worker.close()
    assert among_strangers() == ""


def test_marking_imports_no_file_of_the_working_directory(among_strangers, monkeypatch):
    import namedtensor as nt
    from namedtensor.teaching import grading

    process = AnsweringProcess(grading.__name__)
    monkeypatch.setattr(grading, "PROCESS", process)
    monkeypatch.setattr(grading, "USER_FUNCTIONS", {})  # where there are some, no process is asked
    monkeypatch.setattr(grading, "SECONDS", 60.0)  # the first answer waits for the process to start
    try:
        assert nt.exercises("#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X")["one"].grade("∑_{n} X")
        assert process.is_running
    finally:
        process.close()
    assert among_strangers() == ""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments", [["eval", "1 + 2"], ["check", "∑_{a} X"], ["explain", "1 + 2"], ["--help"]])
def test_the_command_imports_no_file_of_the_working_directory(among_strangers, arguments):
    """But for those that Python itself may import before the package has its say."""
    for name in ("warnings", "threading", "namedtensor", "grammar", "sitecustomize"):
        Path(f"{name}.py").unlink()
    completed = subprocess.run(
        [sys.executable, "-m", "namedtensor", *arguments], capture_output=True, text=True, encoding="utf-8", timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}, cwd=os.getcwd(),
    )  # fmt: skip
    assert "a file of the working directory" not in completed.stderr and among_strangers() == ""


def test_another_package_that_is_run_keeps_its_working_directory(tmp_path):
    """Of which the name ends like that of this one."""
    package = tmp_path / "my_namedtensor"
    package.mkdir()
    (package / "__init__.py").write_text("import namedtensor")
    (package / "__main__.py").write_text("import beside\nprint(beside.VALUE)")
    (tmp_path / "beside.py").write_text("VALUE = 42")
    process = subprocess.run(
        [sys.executable, "-m", "my_namedtensor"], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout == "42\n", process.stderr


def test_every_process_is_started_in_one_place():
    """By the one that looks for no module in the working directory."""
    makers = ("subprocess", "multiprocessing", "os.system", "os.spawn", "os.exec", "ProcessPoolExecutor", "popen")
    texts = {
        str(path.relative_to(ROOT))
        for package in ("grammar", "namedtensor", "transformer")
        for path in (ROOT / package).rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in makers)
    }
    assert texts == {str(Path("namedtensor", "core", "processes.py"))}


def test_one_process_answers_all(echo):
    process = echo()
    first, second = process.ask(b"a b", 60).split(), process.ask(b"c", 60).split()
    assert first[:2] == [b"a", b"b"] and first[2] == second[-1] != str(os.getpid()).encode()


def test_what_is_late_is_ended_and_the_next_has_its_own_answer(echo):
    process = echo()
    process.ask(b"a", 60)
    late = process.process
    with pytest.raises(LateError):
        process.ask(b"loop", 0.3)
    assert late.poll() is not None and process.ask(b"b", 60).startswith(b"b")


def test_an_interrupt_while_waiting_leaves_no_answer_for_the_next(echo, monkeypatch):
    process = echo()
    process.ask(b"a", 60)

    def interrupted(seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(process, "_next", interrupted)
        with pytest.raises(KeyboardInterrupt):
            process.ask(b"mine", 60)
    assert process.ask(b"yours", 60).startswith(b"yours")


def test_what_dies_over_a_question_says_so_and_what_died_before_does_not(echo):
    process = echo()
    with pytest.raises(EndedError):
        process.ask(b"die", 60)
    assert process.ask(b"a", 60).startswith(b"a")
    process.process.kill()
    process.process.wait()
    assert process.ask(b"b", 60).startswith(b"b")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this system limits no memory of addresses")
def test_memory_is_limited_where_that_is_asked_for(echo):
    gigabyte = 2**30
    assert echo(memory=gigabyte).ask(b"hold %d" % (2 * gigabyte), 60) == b"no memory"
    assert echo(memory=gigabyte).ask(b"hold 1000", 60) == b"1000"
    assert echo(memory=0).ask(b"hold %d" % gigabyte, 60) == str(gigabyte).encode()


@pytest.mark.parametrize("busy", ["", "loop"])
def test_it_ends_with_who_started_it(tmp_path, echo, busy):
    """Even where that is killed while it works."""
    text = f"""
        import sys, threading, time, os
        sys.path.append({str(tmp_path / "modules")!r})
        from namedtensor.core.processes import AnsweringProcess
        process = AnsweringProcess("echoing")
        print(process.ask(b"a", 60).split()[-1].decode(), flush=True)
        if {busy!r}:
            threading.Thread(target=process.ask, args=(b"loop", 60), daemon=True).start()
            time.sleep(0.2)
        os._exit(0)
    """
    completed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120, cwd=ROOT, check=True
    )
    child = int(completed.stdout)
    end = time.monotonic() + 30
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_alive(child)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_its_own_and_leaves_the_other_alone(echo):
    process = echo()
    process.ask(b"a", 60)
    child = os.fork()
    if child == 0:
        try:
            process.close()
            right = process.ask(b"b", 60).startswith(b"b")
            process.close()
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0 and process.is_running and process.ask(b"c", 60).startswith(b"c")


def test_threads_wait_for_each_other(echo):
    process, result = echo(), []
    threads = [threading.Thread(target=lambda n=n: result.append((n, process.ask(b"%d" % n, 60)))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(result) == 8 and all(answer.split()[0] == b"%d" % n for n, answer in result)


@pytest.mark.parametrize("executable, frozen", [("", False), (None, False), (sys.executable, True)])
def test_a_python_that_cannot_start_another_says_so(monkeypatch, executable, frozen):
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    with pytest.raises(OSError, match="cannot start another"):
        processes.AnsweringProcess("json").ask(b"", 1)
