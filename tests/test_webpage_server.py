"""The server of the page: for this machine alone, within limits; and the command that starts it."""

import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import namedtensor
from namedtensor.cli import main
from namedtensor.cli import playground as command
from namedtensor.webpage.server import LONGEST, Server, page, policy
from namedtensor.webpage.worker import MAX_PROCESSES

ROOT = Path(__file__).parent.parent
JSON = {"Content-Type": "application/json"}


@contextmanager
def serving(**options):
    server = Server(**options)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def server():
    with serving(file="#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X") as result:
        yield result


def ask(server, method="POST", path="/answer", body=b"{}", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    inputs = {
        **(JSON if method == "POST" else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection.request(method, path, body if method == "POST" else None, inputs)
    getresponse = connection.getresponse()
    return getresponse.status, dict(getresponse.getheaders()), getresponse.read()


def test_the_page_is_served_with_what_it_may_do(server):
    status, headers, body = ask(server, "GET", "/")
    assert status == 200 and body.decode() == page()
    allowed = headers["Content-Security-Policy"]
    assert "default-src 'none'" in allowed and "frame-ancestors 'none'" in allowed
    assert not re.search(r"script-src[^;]*'unsafe-(inline|eval)'", allowed)
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    assert policy("") == "default-src 'none'; frame-ancestors 'none'"


def test_the_page_asks_nothing_of_any_other_place():
    text = page()
    links = re.findall(r"""<(?:script|link|img|iframe|source)[^>]*\s(?:src|href)\s*=\s*["']?([^"'\s>]+)""", text)
    assert all(link.startswith("data:") for link in links)
    assert len(text.encode()) <= 650_000


def test_questions_are_answered(server):
    status, headers, body = ask(server, body=json.dumps({"ask": "check", "text": "∑_{a} X", "id": 7}).encode())
    data = json.loads(body)
    assert status == 200 and data["ok"] and data["id"] == 7 and headers["Content-Type"].startswith("application/json")
    assert [input_["name"] for input_ in data["inputs"]] == ["X"]


def test_the_file_comes_with_the_examples(server):
    data = json.loads(ask(server, body=b'{"ask": "examples"}')[2])
    assert data["file"].startswith("#: exercise one") and len(data["examples"]) == 23


def test_the_address_of_links_comes_with_the_examples(server):
    assert json.loads(ask(server, body=b'{"ask": "examples"}')[2])["site"] is None
    with serving(site="https://example.org/playground.html") as result:
        assert json.loads(ask(result, body=b'{"ask": "examples"}')[2])["site"] == "https://example.org/playground.html"


@pytest.mark.parametrize("address", ["example.org", "javascript:alert(1)", "https://example.org/#a", "https://a b/"])
def test_an_address_that_is_none_is_refused(address, capsys):
    from namedtensor.cli import main

    assert main(["playground", "--no-browser", "--site", address]) == 2
    assert "is not an address" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        (403, {"Host": "evil.example"}),
        (403, {"Host": "127.0.0.1"}),
        (403, {"Host": "localhost:1"}),
        (403, {"Origin": "http://evil.example"}),
        (403, {"Origin": "null"}),
        (415, {"Content_Type": "text/plain"}),
        (413, {"body": b" " * (LONGEST + 1)}),
        (413, {"Content_Length": "9" * 30, "body": b""}),
        (404, {"path": "/other"}),
        (404, {"method": "GET", "path": "/etc/passwd"}),
        (404, {"method": "GET", "path": "/../server.py"}),
        (403, {"method": "GET", "path": "/", "Host": "evil.example"}),
        (501, {"method": "PUT"}),
    ],
)
def test_what_is_not_for_it_is_refused(server, expected, given):
    assert ask(server, **given)[0] == expected
    assert ask(server)[0] == 200  # and it goes on


def test_it_is_at_the_loopback_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    host = socket.gethostbyname(socket.gethostname())
    if not host.startswith("127."):
        with pytest.raises(OSError):
            socket.create_connection((host, server.port), timeout=2)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[" * 60_000, b'{"ask": "check", "text": "\\ud800"}', b"null"]
)
def test_what_is_no_question_is_answered_so(server, body):
    status, _, data = ask(server, body=body)
    assert status == 200 and json.loads(data)["ok"] is False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process can be made to stand still")
def test_what_takes_too_long_is_ended_and_the_next_is_answered():
    with serving(seconds=3.0) as server:
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]
        server.worker.processes[0].process.send_signal(19)  # it stands still
        start = time.monotonic()
        data = json.loads(ask(server, body=b'{"ask": "runtime"}')[2])
        assert not data["ok"] and "3 seconds" in data["error"]["message"] and time.monotonic() - start < 20
        server.worker.seconds = 60.0
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be made to stand still")
def test_while_one_question_is_answered_another_has_its_answer():
    """However long the first takes: its process stands still until the second has its answer."""
    with serving(seconds=100.0) as server:
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]
        first = server.worker.free.queue[-1].process  # which the next question takes
        first.send_signal(19)
        result = []
        slow = threading.Thread(target=lambda: result.append(ask(server, body=b'{"ask": "runtime", "id": 1}')))
        slow.start()
        while first in [answering_process.process for answering_process in server.worker.free.queue]:
            time.sleep(0.01)
        for number in (2, 3):
            reply = json.loads(ask(server, body=json.dumps({"ask": "runtime", "id": number}).encode())[2])
            assert reply["ok"] and reply["id"] == number and not result
        first.send_signal(18)
        slow.join(30)
        assert (
            json.loads(result[0][2])["id"] == 1 and 2 <= len(server.worker.processes) <= 3
        )  # a third where one is slow


def test_processes_are_as_many_as_questions_at_the_same_time_and_end_with_the_server():
    with serving(seconds=100.0) as server:
        with ThreadPoolExecutor(8) as threads:
            bodies = [
                json.dumps(
                    {"ask": "derive", "text": "softmax_{a} X", "inputs": {"X": "ℝ^{a[3]}"}, "by": "X", "id": n}
                ).encode()
                for n in range(24)
            ]
            replies = [json.loads(reply[2]) for reply in threads.map(lambda body: ask(server, body=body), bodies)]
        assert [reply["id"] for reply in replies] == [*range(24)] and all(reply["ok"] for reply in replies)
        processes = [process.process for process in server.worker.processes]
        assert 1 <= len(processes) <= MAX_PROCESSES
    assert all(process.wait(10) is not None for process in processes)
    with pytest.raises(OSError):
        ask(server, body=b'{"ask": "runtime"}')


@pytest.mark.slow
def test_the_worker_that_died_while_idle_is_started_anew():
    with serving() as server:
        for _ in range(2):
            assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]
            process = server.worker.processes[0].process
            process.kill()
            process.wait()
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be made to stand still")
def test_a_worker_that_dies_over_a_question_is_told_so():
    """At once, and not as one that took too long; the next question is answered."""
    with serving(seconds=100.0) as server:
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]
        process = server.worker.processes[0].process
        process.send_signal(19)
        killer = threading.Timer(0.3, process.kill)
        killer.start()
        start = time.monotonic()
        data = json.loads(ask(server, body=b'{"ask": "runtime"}')[2])
        killer.join()
        assert "died" in data["error"]["message"] and "seconds" not in data["error"]["message"]
        assert not data["ok"] and time.monotonic() - start < 50
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]


def heavy(count):
    """A question about an answer with 3^(count + 1) numbers, which the reference evaluator computes one by one."""
    lines = [f"a{n + 1} = a{n} ⊙ a{n}_{{n→n{n + 1}}}" for n in range(count)]
    answer = "\n".join(["a0 = X", *lines, f"a{count}"])
    file = "#: exercise one\nX ∈ ℝ^{n[3]}\nanswer = X"
    return json.dumps({"ask": "grade", "file": file, "name": "one", "answer": answer}).encode()


@pytest.mark.slow
def test_another_tab_waits_less_than_a_second_while_one_computes():
    with serving(seconds=20.0) as server:
        while len(server.worker.free.queue) < 2:
            server.worker._add()
        with ThreadPoolExecutor(2) as threads:  # both have loaded what they need
            quick = b'{"ask": "check", "text": "x + 1"}'
            assert all(json.loads(reply[2])["ok"] for reply in threads.map(lambda _: ask(server, body=quick), range(8)))
        late = []
        slow = threading.Thread(target=lambda: late.append(ask(server, body=heavy(14))))
        slow.start()
        waits = []
        for number in range(9):
            start = time.monotonic()
            text = f"softmax_{{a}}(X) + {number}"
            reply = json.loads(
                ask(server, body=json.dumps({"ask": "check", "text": text, "inputs": {"X": "ℝ^{a}"}}).encode())[2]
            )
            waits.append(time.monotonic() - start)
            assert reply["ok"] and not reply["errors"]
        assert not late, "the question ended too soon to delay another"
        assert sorted(waits)[4] < 1, waits
        slow.join(60)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this system limits no memory of addresses")
def test_what_takes_too_much_memory_is_told_and_the_next_is_answered():
    with serving(seconds=60.0, memory=700 * 2**20) as server:
        size = 12_000
        body = {
            "ask": "same",
            "first": "x ⊙ y",
            "second": "y ⊙ x + 0",
            "inputs": {"x": f"ℝ^{{a[{size}]}}", "y": f"ℝ^{{b[{size}]}}"},
        }
        reply = json.loads(ask(server, body=json.dumps(body).encode())[2])
        assert not reply["ok"] and "memory" in reply["error"]["message"], reply
        assert json.loads(ask(server, body=b'{"ask": "runtime"}')[2])["ok"]


def test_answers_to_exercises_are_graded(server):
    """By a process that the worker starts, and ends with it."""
    file = "#: exercise one\nX ∈ ℝ^{n}\nanswer = ∑_{n} X"
    inputs = {"ask": "grade", "file": file, "name": "one", "answer": "∑_{n} X"}
    server.worker.seconds = 60.0
    assert json.loads(ask(server, body=json.dumps(inputs).encode())[2])["correct"]


def test_the_command_prints_its_address_and_ends():
    command = [sys.executable, "-u", "-m", "namedtensor", "playground", "--no-browser", "--port", "0"]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    try:
        line = child.stdout.readline()
        port = int(re.match(r"http://127\.0\.0\.1:(\d+)/ is the playground", line)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
    finally:
        child.terminate()
        child.wait(20)
        child.stdout.close()


def distribution(folder, version):
    """The folder of an installed distribution that holds the page."""
    package, metadata = (
        folder / "namedtensor_playground",
        folder / f"named_tensor_notation_playground-{version}.dist-info",
    )
    package.mkdir(parents=True)
    metadata.mkdir()
    (package / "playground.html").write_text("<!doctype html>the whole page", encoding="utf-8")
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: named-tensor-notation-playground\nVersion: {version}\n", encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize(("version", "note"), [(namedtensor.__version__, ""), ("0.0.1", "it is of version 0.0.1")])
def test_the_page_that_needs_no_server_is_saved_from_its_distribution(tmp_path, capsys, monkeypatch, version, note):
    monkeypatch.setattr(command, "REPOSITORY", tmp_path)
    monkeypatch.syspath_prepend(str(distribution(tmp_path / "installed", version)))
    assert main(["playground", "--save", str(tmp_path)]) == 0
    assert (tmp_path / "playground.html").read_text(encoding="utf-8") == "<!doctype html>the whole page"
    err = capsys.readouterr().err
    assert "needs no server" in err and note in err and ("version" in err) == bool(note)


def test_a_page_that_needs_a_server_is_not_saved(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "REPOSITORY", tmp_path)
    assert main(["playground", "--save", str(tmp_path / "page.html")]) == 2
    assert not (tmp_path / "page.html").exists()
    assert "pip install named-tensor-notation-playground" in capsys.readouterr().err


def test_the_page_that_the_repository_has_built_comes_first(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "REPOSITORY", tmp_path)
    (tmp_path / "playground.html").write_text("built", encoding="utf-8")
    assert main(["playground", "--save", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "built"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["playground", "no-such.nt"], "no-such.nt"),
        (["playground", "--port", "99999"], "port"),
        (["playground", "--save", "no/such/folder/x.html"], "no/such/folder"),
    ],
)
def test_a_slip_in_the_command_is_told(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "REPOSITORY", tmp_path)
    (tmp_path / "playground.html").write_text("built", encoding="utf-8")
    assert main(words) == 2
    assert message in capsys.readouterr().err
