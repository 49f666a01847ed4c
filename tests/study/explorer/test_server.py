"""The server: this machine only, for who knows the address; every refusal is one sentence."""

import http.client
import io
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incenter
from incenter.geometry.errors import IncenterError
from incenter.study.explorer.server import Explorer
from tests.cli.running import run
from tests.study.waiting import LIMIT, wait_until

EYE = {"gradients": np.eye(3).tolist(), "p": 2}


@pytest.fixture(scope="module")
def server() -> Iterator[Explorer]:
    with Explorer() as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()


def ask(server: Explorer, where: str, body: bytes, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT)
    connection.request("POST", where, body, headers)
    response = connection.getresponse()
    found = json.loads(response.read())
    connection.close()
    return response.status, found


def test_a_question_is_answered_by_the_library(server: Explorer) -> None:
    code, found = ask(server, f"/{server.token}/answer", json.dumps(EYE).encode())
    assert code == 200
    assert found["radius"] == incenter.chebyshev_center(np.eye(3)).radius


def test_it_listens_on_this_machine_only(server: Explorer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    own = socket.gethostbyname_ex(socket.gethostname())[2]
    for address in (other for other in own if not other.startswith("127.")):
        with socket.socket() as knocking:
            knocking.settimeout(2)
            assert knocking.connect_ex((address, server.server_port)) != 0


def test_other_pages_and_other_names_are_refused(server: Explorer) -> None:
    right, body = f"/{server.token}/answer", json.dumps(EYE).encode()
    assert ask(server, "/answer", body)[0] == 404
    assert ask(server, f"/{'x' * len(server.token)}/answer", body)[0] == 404
    assert ask(server, right, body, Host="elsewhere.example")[0] == 404
    assert ask(server, right, body, Origin="http://elsewhere.example")[0] == 404
    assert ask(server, right, body, Origin="null")[0] == 404
    assert ask(server, right, body, Origin=f"http://127.0.0.1:{server.server_port}")[0] == 200
    assert ask(server, f"/{server.token}/nothing", body) == (404, None)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", "The question is not JSON"),
        (b"[1]", "must be a JSON object; got list"),
        (b'{"gradients": [[1]]}', "must be 3 rows of 3 numbers; got shape"),
    ],
)
def test_bad_questions(server: Explorer, body: bytes, sentence: str) -> None:
    code, found = ask(server, f"/{server.token}/answer", body)
    assert code == 400
    assert sentence in found["error"]


def test_a_file_from_the_page(server: Explorer) -> None:
    file = io.BytesIO()
    G = np.random.default_rng(0).standard_normal((4, 9))
    np.savez(file, gradients=G, names=["a", "b", "c", "d"], step=12)
    code, found = ask(server, f"/{server.token}/file?name=run%20one.npz", file.getvalue())
    assert (code, found["title"], found["names"], found["m"], found["n"]) == (200, "run one.npz", list("abcd"), 4, 9)
    code, found = ask(server, f"/{server.token}/answer", json.dumps({"held": found["name"]}).encode())
    assert (code, found["radius"]) == (200, incenter.chebyshev_center(G).radius)
    code, found = ask(server, f"/{server.token}/file?name=notes.txt", b"not an archive")
    assert code == 400
    assert found["error"].startswith("notes.txt is not an .npz file, or not a whole one.")


def test_a_file_too_large_for_the_page_is_not_read(server: Explorer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT)
    connection.putrequest("POST", f"/{server.token}/file?name=big.npz")
    connection.putheader("Content-Length", str(2**40))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    assert "incenter explore FILE" in json.loads(response.read())["error"]
    connection.close()


def test_many_questions_on_one_connection(server: Explorer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LIMIT)
    for _ in range(3):
        connection.request("POST", f"/{server.token}/answer", json.dumps(EYE))
        assert connection.getresponse().read()
        assert connection.sock is not None  # kept open
    connection.close()


def test_who_hangs_up_leaves_no_traceback(server: Explorer, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.server_port)) as caller:
            head = f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n"
            caller.sendall(2 * head.encode())
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # hang up at once
    assert ask(server, f"/{server.token}/answer", json.dumps(EYE).encode())[0] == 200
    wait_until(lambda: before >= set(threading.enumerate()), "the end of the threads that answered")
    assert capsys.readouterr().err == ""


def test_a_port_that_is_taken(server: Explorer) -> None:
    with pytest.raises(IncenterError, match=rf"Port {server.server_port} of 127.0.0.1 cannot be had"):
        Explorer(port=server.server_port)
    with pytest.raises(IncenterError, match="Port 99999"):
        Explorer(port=99_999)


def test_the_command_prints_its_address_and_ends_with_one_line() -> None:
    command = [sys.executable, "-m", "incenter", "explore", "worked", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        try:
            assert started.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+/)", started.stdout.readline())
            assert address is not None
            connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=LIMIT)
            connection.request("GET", address[2])
            assert "the paper's example (2, 2, 1)/3" in connection.getresponse().read().decode()
            connection.close()
            started.send_signal(signal.SIGINT)
            out, error = started.communicate(timeout=LIMIT)
        finally:
            started.kill()
    assert (out.strip(), error, started.returncode) == ("The cone explorer has ended.", "", 0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.npz"], "There is no file nowhere.npz."),
        (["--export", "/proc/nowhere/page.html"], "/proc/nowhere/page.html cannot be written"),
        (["--export", f"{__file__}/page.html"], f"{__file__}/page.html cannot be written"),
        (["--port", "70000", "--no-browser"], "Port 70000 of 127.0.0.1 cannot be had"),
    ],
)
def test_what_the_user_can_mend(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explore", *arguments) == 2
    output = capsys.readouterr()
    assert output.err.startswith(f"incenter: {sentence}")
    assert output.out == ""


def test_the_exported_page_holds_a_file_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "</script><b>"
    np.savez(tmp_path / "g.npz", gradients=np.eye(3, 8), names=[name, "b", "c"])
    assert run("explore", str(tmp_path / "g.npz"), "--export", str(tmp_path / "new" / "page.html")) == 0
    text = (tmp_path / "new" / "page.html").read_text()
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new" / "page.html"]
    assert name not in text
    start = re.search(r'<script type="application/json" id="start">(.*?)</script>', text)
    assert start is not None
    saved = json.loads(start[1])
    assert saved["answers"]["given/2"]["radius"] == incenter.chebyshev_center(np.eye(3, 8)).radius
    assert saved["answers"]["given/2"]["names"][0] == name
    assert "page.html" in capsys.readouterr().out
