"""The server, the command and the files it writes, without a browser."""

import http.client
import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest

import wengert as wg
from tests.inspector import programs
from wengert.inspector.api import Api, Refused
from wengert.inspector.program import Program, script
from wengert.inspector.ways_in import Inspector


def shown(text, tmp_path):
    """Return the program of a script that has ended."""
    path = tmp_path / "script.py"
    path.write_text(text, "utf-8")
    program = Program(path.name)
    script(program, str(path), [])
    return program


def asked(inspector, question, **given):
    address = f"{inspector.address}api/{question}?{urllib.parse.urlencode(given)}"
    with urllib.request.urlopen(address) as response:
        return json.load(response)


@pytest.fixture
def page():
    x = np.array([1.0, 2.0, 3.0])
    with wg.inspect(lambda x: np.sin(x) * x[::-1], x, browser=False) as found:
        yield found


def test_a_function_is_served_with_the_names_of_its_parameters(page):
    session = asked(page, "session")
    assert [t["name"] for t in session["tensors"]] == ["x", "result"]
    assert session["results"] == [session["tensors"][-1]["number"]]


def test_an_influence_over_http_is_the_gradient(page):
    number = asked(page, "session")["results"][0]
    found = asked(page, "influence", t=number, ranges="0:1", among="0")
    (picture,) = found["maps"].values()
    import base64

    values = np.frombuffer(base64.b64decode(picture["data"]), "<f4")
    expected = wg.influence(lambda x: np.sin(x) * x[::-1], np.array([1.0, 2.0, 3.0]), of=0)
    full = np.zeros(3)
    full[picture["left"] : picture["left"] + picture["columns"]] = values
    np.testing.assert_allclose(full, np.asarray(expected), rtol=1e-6)


@pytest.mark.parametrize("path", ["/", "/api/state", "/guess/", "/guess/api/state"])
def test_without_the_token_there_is_nothing(page, path):
    parts = urllib.parse.urlsplit(page.address)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://{parts.netloc}{path}")


def test_a_request_that_names_another_host_gets_nothing(page):
    parts = urllib.parse.urlsplit(page.address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", parts.path, headers={"Host": "example.org"})
    assert connection.getresponse().status == 404
    connection.close()


def test_elsewhere_than_on_loopback_it_is_reached_by_any_name_and_only_with_the_token(page):
    with Inspector(page.program, host="0.0.0.0") as everywhere:
        parts = urllib.parse.urlsplit(everywhere.address)
        for path, status in ((parts.path, 200), ("/", 404), ("/guess/", 404)):
            connection = http.client.HTTPConnection("127.0.0.1", parts.port)
            connection.request("GET", path, headers={"Host": "machine.example"})
            assert connection.getresponse().status == status
            connection.close()


def test_it_listens_on_loopback_only(page):
    assert page.address.startswith("http://127.0.0.1:")


def test_a_port_in_use_is_answered_with_the_next():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with wg.inspect(np.sin, np.ones(2), port=port, browser=False) as page:
            assert urllib.parse.urlsplit(page.address).port != port
            assert asked(page, "state")["status"] == "finished"


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("nothing", {}),
        ("value", {"t": "99"}),
        ("value", {"t": "__import__('os')"}),
        ("influence", {"t": "0", "ranges": "0:99"}),
        ("influence", {"t": "0", "ranges": "a:b"}),
        ("influence", {"t": "0", "ranges": "0:1,0:1"}),
        ("derivative", {"t": "0", "ranges": "0:1"}),
        ("node", {"t": "-1"}),
        ("pattern", {"kind": "other", "target": "0", "source": "0"}),
        ("nonfinite", {"target": "x"}),
    ],
)
def test_questions_without_an_answer_are_refused(page, question, given):
    with pytest.raises(Refused):
        page.api.answer(question, given)
    with pytest.raises(urllib.error.HTTPError, match="400"):
        asked(page, question, **given)


def test_a_page_has_a_policy_that_lets_nothing_else_in(page):
    with urllib.request.urlopen(page.address) as response:
        policy = response.headers["Content-Security-Policy"]
        text = response.read().decode()
    nonce = re.search("script-src 'nonce-([^']+)'", policy)[1]
    assert "default-src 'none'" in policy and text.count(f'nonce="{nonce}"') == 2
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_tape_is_shown_with_the_names_of_who_asks():
    x = wg.asarray(np.arange(4.0))
    with wg.debug(), wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h = wg.exp(x)
        y = wg.sum(h * x)
    with tape.inspect(y, browser=False) as page:
        names = {t["name"]: t for t in asked(page, "session")["tensors"]}
        assert {"x", "h", "y"} <= names.keys() and names["y"]["role"] == "result"
        found = asked(page, "influence", t=names["y"]["number"], among=names["x"]["number"])
        assert found["maps"][str(names["x"]["number"])]["columns"] == 4
    with tape.inspect(browser=False) as page:
        assert asked(page, "session")["nodes"] >= 4


def test_a_tape_that_was_used_says_so():
    x = wg.asarray([1.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.exp(x) * x
    tape.gradient(y, x)
    with tape.inspect(y, browser=False) as page:
        assert "persistent=True" in asked(page, "state")["message"]


def test_in_a_notebook_it_shows_itself(page):
    assert page.address in page._repr_html_() and "<iframe" in page._repr_html_()


# -- programs that go wrong -----------------------------------------------------------------------


def test_a_script_that_raises_is_shown_up_to_there(tmp_path):
    program = shown(programs.NETWORK + "\nraise ValueError('at the end')", tmp_path)
    assert program.status == "failed" and "ValueError: at the end" in program.message
    assert "inspector/program.py" not in program.message and "script.py" in program.message
    assert program.session.named("score").role == "result"


@pytest.mark.parametrize("text", ["", "x = 1", "import wengert as wg\nx = wg.ones(3) * 2"])
def test_a_script_that_records_nothing_says_so(text, tmp_path):
    program = shown(text, tmp_path)
    assert program.status == "finished" and program.session is None
    assert "recorded nothing" in program.message
    with pytest.raises(Refused, match="recorded nothing"):
        Api(program).answer("session", {})


def test_a_script_with_a_syntax_error_says_so(tmp_path):
    program = shown("x = = 1", tmp_path)
    assert program.status == "failed" and "SyntaxError" in program.message


def test_a_script_that_exits_is_shown(tmp_path):
    ended = shown(programs.NETWORK + "\nimport sys; sys.exit()", tmp_path)
    assert ended.status == "finished" and ended.session is not None
    refused = shown("import sys; sys.exit('no data')", tmp_path)
    assert refused.status == "failed" and "no data" in refused.message


def test_complex_numbers_and_arrays_without_elements(tmp_path):
    text = """
import wengert as wg
z = wg.asarray([1 + 2j, 3 - 1j])
e = wg.zeros((0, 3))
with wg.GradientTape() as tape:
    tape.watch([z, e])
    y = z * z
    n = e + 1.0
"""
    api = Api(shown(text, tmp_path))
    tensors = {t["name"]: str(t["number"]) for t in api.answer("session", {})["tensors"]}
    assert api.answer("value", {"t": tensors["y"]})["complex"]
    found = api.answer("influence", {"t": tensors["y"], "ranges": "0:1", "among": tensors["z"]})
    assert found["maps"][int(tensors["z"])]["complex"] and found["value"] == "(-3+4j)"
    with pytest.raises(Refused, match="no elements"):
        api.answer("value", {"t": tensors["n"]})


def test_scripts_for_tensorflow_are_shown(tmp_path):
    text = """
import tensorflow as tf
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
with tf.GradientTape() as tape:
    h = tf.tanh(w)
    loss = tf.reduce_sum(h * h)
tape.gradient(loss, w)
"""
    session = shown(text, tmp_path).session
    found = session.influence(session.named("loss").number, ())
    w = next(i for i in session.shown() if i.role == "parameter")
    values = np.tanh([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(found.maps[w.number].values, 2 * values * (1 - values**2), rtol=1e-3)


# -- the command -----------------------------------------------------------------------------------


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "wengert", "inspect", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, **options,
    )  # fmt: skip


def test_export_writes_a_page_with_its_answers(tmp_path):
    (tmp_path / "net.py").write_text(programs.NETWORK, "utf-8")
    found = command("--export", "page.html", "net.py", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    text = (tmp_path / "page.html").read_text("utf-8")
    embedded = json.loads(re.search(r"const EMBEDDED = (.*);\n", text)[1])
    assert {"state?", "session?"} <= embedded["answers"].keys() and embedded["influences"]


def test_export_of_a_script_that_fails_says_so(tmp_path):
    (tmp_path / "bad.py").write_text("raise RuntimeError('broken')", "utf-8")
    found = command("--export", "page.html", "bad.py", cwd=tmp_path)
    assert found.returncode == 1 and "RuntimeError: broken" in found.stderr
    assert "broken" in (tmp_path / "page.html").read_text("utf-8")


def test_pictures_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "net.py").write_text(programs.NETWORK, "utf-8")
    found = command("--png", "pictures", "net.py", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    (picture,) = (tmp_path / "pictures").iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_prints_the_address_of_the_next_port_if_one_is_in_use(tmp_path):
    (tmp_path / "net.py").write_text(programs.NETWORK, "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = [sys.executable, "-m", "wengert", "inspect", "--no-browser", f"--port={port}"]
        with subprocess.Popen(
            [*line, "net.py"], stdout=subprocess.PIPE, text=True, cwd=tmp_path
        ) as process:
            try:
                address = re.search(r"http\S+", process.stdout.readline())[0]
                assert urllib.parse.urlsplit(address).port != port
                with urllib.request.urlopen(address) as response:
                    assert response.status == 200
            finally:
                process.kill()


def test_a_script_that_is_not_there(tmp_path):
    found = command("nothing.py", cwd=tmp_path)
    assert found.returncode == 2 and "no file" in found.stderr


def test_a_program_that_runs_forever_can_be_stopped(tmp_path):
    (tmp_path / "train.py").write_text(programs.TRAINING, "utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "wengert", "inspect", "--no-browser", "train.py"],
        stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        try:
            address = re.search(r"http\S+", process.stdout.readline())[0]

            def ask(question):
                with urllib.request.urlopen(f"{address}api/{question}") as response:
                    return json.load(response)

            until = time.monotonic() + 60
            while len(ask("training")["steps"]) < 5 and time.monotonic() < until:
                time.sleep(0.05)
            assert ask("state")["status"] == "running"
            urllib.request.urlopen(f"{address}api/stop", data=b"")
            while ask("state")["status"] == "running" and time.monotonic() < until:
                time.sleep(0.05)
            state = ask("state")
            assert state["status"] == "stopped" and "was stopped" in state["message"]
            names = {t["name"] for t in ask("session")["tensors"]}
            assert {"first", "second", "loss"} <= names
            steps = ask("training")["steps"]
            assert set(steps[0]["norms"]) == {"first", "second"}
        finally:
            process.kill()


def test_it_serves_until_it_is_closed():
    page = wg.inspect(np.sin, np.ones(2), browser=False)
    assert isinstance(page, Inspector) and asked(page, "state")["ready"]
    page.close()
    with pytest.raises(urllib.error.URLError):
        asked(page, "state")


def test_scripts_for_pytorch_are_shown_as_they_were_before_their_parameters_changed(tmp_path):
    text = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimiser = torch.optim.SGD(net.parameters(), lr=0.5)
x = torch.randn(5, 3)
for step in range(3):
    optimiser.zero_grad()
    loss = (net(x).relu_() ** 2).mean() + net(x).sum()
    loss.backward()
    before = [p.detach().clone().numpy() for p in net.parameters()]
    expected = [p.grad.clone().numpy() for p in net.parameters()]
    optimiser.step()
"""
    path = tmp_path / "script.py"
    path.write_text(text + "\nimport builtins; builtins.told = before, expected", "utf-8")
    program = Program("script.py")
    script(program, str(path), [])
    import builtins

    before, expected = builtins.told
    del builtins.told
    session = program.session
    parameters = [i for i in session.shown() if i.name.startswith("net.")]
    assert [i.name for i in parameters] == [
        "net.0.weight",
        "net.0.bias",
        "net.2.weight",
        "net.2.bias",
    ]
    found = session.influence(session.named("loss").number, ())
    for item, value, gradient in zip(parameters, before, expected, strict=True):
        np.testing.assert_array_equal(session.value(item.number), value)
        np.testing.assert_allclose(found.maps[item.number].values, gradient, rtol=1e-4, atol=1e-6)
    assert len(program.recorder.training) == 3
