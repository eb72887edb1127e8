"""Alerts: real processes and a real HTTP server get the manifest; a failing one is a warning, and changes nothing."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import environment_without_coverage, gpuetl
from gpuetl import InvalidPipeline, Pipeline, RunFailed, load
from gpuetl.report import alert_sending
from gpuetl.report.alert_sending import AlertFailed, post

ROOT = Path(__file__).parents[2]
TEXT = """\
gpuetl: 1
name: small
{alerts}
sources: {{rows: {{parquet: rows.parquet}}}}
stages:
  kept:
    from: rows
    steps:
      - with_columns: {{y: CAST(x AS int8)}}
sinks: {{out: {{from: kept, parquet: out.parquet, mode: overwrite}}}}
"""
KEEP = """\
import os, pathlib, sys
folder = pathlib.Path(__file__).parent
(folder / f"{sys.argv[1]}.json").write_text(sys.stdin.read())
(folder / f"{sys.argv[1]}.env").write_text("\\n".join(map(str, (
    os.environ.get("GPUETL_MANIFEST"), os.environ.get("GPUETL_STATUS"), os.getcwd(), *sys.argv[2:]))))
"""


@pytest.fixture
def folder(tmp_path):
    """Rows for which the pipeline runs, and a command that keeps what it gets."""
    write_rows(tmp_path, [1, 2])
    (tmp_path / "keep.py").write_text(KEEP)
    return tmp_path


def write_rows(folder, rows):
    """Write the rows of the source; 300 does not fit."""
    pq.write_table(pa.table({"x": pa.array(rows, pa.int64())}), folder / "rows.parquet")


def pipeline(folder, alerts):
    """Write a pipeline with alerts."""
    file = folder / "p.yaml"
    file.write_text(TEXT.format(alerts=alerts))
    return file


def keep(name, *more):
    """Return a command that keeps what it gets under a name."""
    words = ", ".join(json.dumps(str(word)) for word in (sys.executable, "keep.py", name, *more))
    return f"{{command: [{words}]}}"


class Hook(BaseHTTPRequestHandler):
    """A webhook that answers as its server says, and keeps what it gets."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer == "slow":
            self.server.released.wait(30)
            return
        if answer == "drip":
            while not self.server.released.wait(0.2):
                self.wfile.write(b"H")
            return
        self.send_response(answer)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def do_GET(self):
        """Keep what a redirect would ask for."""
        self.server.requests.append((self.path, dict(self.headers), b""))

    def log_message(self, *_):
        pass


@contextmanager
def webhook(*answers):
    """Give a server that answers each request in turn, and the last answer for ever."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.requests, server.answers, server.released = [], list(answers), threading.Event()
    server.daemon_threads = True
    server.url = f"http://127.0.0.1:{server.server_port}/hooks/secret-token"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Wait shortly between attempts."""
    monkeypatch.setattr(alert_sending, "FIRST_WAIT_S", 0.01)


def test_a_command_gets_the_manifest_of_a_run(folder):
    file = pipeline(folder, f"on_success: [{keep('done', 'of ${run.id}', '3')}]\non_failure: [{keep('failed')}]")
    done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 0, done.output
    data = json.loads((folder / "done.json").read_text())
    path, status, where, *words = (folder / "done.env").read_text().split("\n")
    assert json.loads(Path(path).read_text()) == data
    assert (data["status"], status, where) == ("done", "done", str(folder))
    assert words == [f"of {data['run_id']}", "3"]
    assert not (folder / "failed.json").exists()
    assert "warning" not in done.output


def test_a_failed_run_tells_the_others(folder):
    write_rows(folder, [300])
    file = pipeline(folder, f"on_success: [{keep('done')}]\non_failure: [{keep('failed')}, {keep('second')}]")
    done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 1
    data = json.loads((folder / "failed.json").read_text())
    assert (data["status"], data["exit_code"], data["failure"]["code"]) == ("failed", 1, "GE2002")
    assert json.loads((folder / "second.json").read_text()) == data
    assert not (folder / "done.json").exists()


def test_a_pipeline_that_does_not_bind_tells(folder):
    file = pipeline(folder, f"on_failure: [{keep('failed')}]")
    file.write_text(file.read_text().replace("CAST(x", "CAST(xx"))
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 2
    assert json.loads((folder / "failed.json").read_text())["problems"][0]["code"] == "GE1003"


def test_an_engine_that_cannot_run_tells(folder):
    file = pipeline(folder, f"on_failure: [{keep('failed')}]")
    assert gpuetl("run", file, "--engine", "abacus").exit_code == 2
    assert json.loads((folder / "failed.json").read_text())["problems"][0]["code"] == "GE3003"


def test_a_webhook_gets_the_manifest_by_post(folder, monkeypatch):
    with webhook(200) as server:
        monkeypatch.setenv("HOOK_URL", server.url)
        file = pipeline(folder, 'on_success: [{webhook: "${env.HOOK_URL}"}]')
        done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 0
    ((path, headers, body),) = server.requests
    assert (path, headers["Content-Type"]) == ("/hooks/secret-token", "application/json")
    assert headers["User-Agent"].startswith("gpuetl/")
    data = json.loads(body)
    assert data["status"] == "done"
    assert data == json.loads(Path(data["manifest"]).read_text())
    assert "secret-token" not in body.decode()
    assert server.url not in done.output


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_python_sends_alerts(folder, engine):
    with webhook(200) as server:
        p = Pipeline("built", root=folder)
        p.read_parquet("rows", "rows.parquet").write_parquet("out", "built.parquet", mode="overwrite")
        p.on_success(webhook=server.url)
        p.on_success(webhook=server.url)
        p.on_failure(command=[sys.executable, "keep.py", "failed"])
        p.run(engine=engine)
        assert json.loads(server.requests[0][2])["status"] == "done"
        assert len(server.requests) == 1
    write_rows(folder, [300])
    with pytest.raises(RunFailed):
        load(pipeline(folder, f"on_failure: [{keep('failed')}]")).run(engine=engine)
    path, *_ = (folder / "failed.env").read_text().split("\n")
    assert path == "None"
    assert json.loads((folder / "failed.json").read_text())["manifest"] == ""


def test_a_profile_has_its_own(folder):
    alerts = f"on_success: [{keep('every')}]\nprofiles: {{prod: {{on_success: [{keep('prod')}]}}, quiet: {{on_success: []}}}}"
    file = pipeline(folder, alerts)
    assert gpuetl("run", file, "--engine", "pandas", "--profile", "prod").exit_code == 0
    assert [(folder / f"{name}.json").exists() for name in ("prod", "every")] == [True, False]
    (folder / "prod.json").unlink()
    assert gpuetl("run", file, "--engine", "pandas", "--profile", "quiet").exit_code == 0
    assert [(folder / f"{name}.json").exists() for name in ("prod", "every")] == [False, False]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("[no-such-program, x]", "command 'no-such-program' failed: it cannot be started: No such file or directory"),
        ("[sh, -c, 'echo first; echo last >&2; exit 3']", "command 'sh' failed: exit code 3: last"),
        ("[sh, -c, 'kill -9 $$']", "command 'sh' failed: signal 9"),
    ],
)
def test_a_command_that_fails_is_a_warning(folder, command, why):
    file = pipeline(
        folder, f"on_success: [{{command: {command}}}, {keep('next')}]\non_failure: [{{command: {command}}}]"
    )
    done = gpuetl("run", file, "--engine", "pandas")
    assert done.exit_code == 0
    assert f"the alert by {why}" in done.output
    assert (folder / "next.json").exists()
    (path,) = (folder / ".gpuetl" / "p" / "runs").iterdir()
    data = json.loads(path.read_text())
    assert data["status"] == "done"
    assert [why in warning for warning in data["after_run"]] == [True]
    assert data["warnings"] == data["after_run"]
    write_rows(folder, [300])
    failed = gpuetl("run", file, "--engine", "pandas")
    assert failed.exit_code == 1
    assert f"warning: the alert by {why}" in failed.stderr
    assert "has no result" in failed.stderr


def test_a_slow_command_is_ended_with_what_it_started(folder, monkeypatch):
    monkeypatch.setattr(alert_sending, "COMMAND_TIMEOUT_S", 1.0)
    file = pipeline(folder, "on_success: [{command: [sh, -c, 'sleep 60 & echo $! > child; sleep 60']}]")
    started = time.monotonic()
    done = gpuetl("run", file, "--engine", "pandas")
    assert (done.exit_code, time.monotonic() - started < 30) == (0, True)
    assert "command 'sh' failed: it ran longer than 1 s and was ended" in done.output
    child = int((folder / "child").read_text())
    deadline = time.monotonic() + 10
    while is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_alive(process):
    """Tell whether a process runs."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_command_need_not_read(folder):
    file = pipeline(folder, 'on_success: [{command: ["true"]}]')
    assert "warning" not in gpuetl("run", file, "--engine", "pandas").output


def test_a_server_that_comes_back_is_tried_again(folder):
    with webhook(503, 429, 200) as server:
        file = pipeline(folder, f"on_success: [{{webhook: '{server.url}'}}]")
        done = gpuetl("run", file, "--engine", "pandas")
        assert len(server.requests) == 3
    assert "warning" not in done.output


def test_attempts_wait_longer_each_time(monkeypatch):
    waited = []
    monkeypatch.setattr(alert_sending, "FIRST_WAIT_S", 1.0)
    with webhook(500) as server, pytest.raises(AlertFailed, match="500 Internal Server Error, 3 times"):
        post(server.url, "{}", waited.append)
    assert waited == [1.0, 2.0]
    assert len(server.requests) == 3


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("answer", "requests", "why"),
    [
        (500, 3, "the server answered 500 Internal Server Error, 3 times"),
        (404, 1, "the server answered 404 Not Found"),
        (302, 1, "the server answered 302 Found"),
        ("slow", 3, "no answer in 0.5 s, 3 times"),
        ("drip", 3, "no answer in 0.5 s, 3 times"),
    ],
)
def test_a_webhook_that_fails_is_a_warning(folder, monkeypatch, answer, requests, why):
    monkeypatch.setattr(alert_sending, "WEBHOOK_TIMEOUT_S", 0.5)
    write_rows(folder, [300])
    with webhook(answer) as server:
        file = pipeline(folder, f"on_failure: [{{webhook: '{server.url}'}}]")
        done = gpuetl("run", file, "--engine", "pandas")
        assert len(server.requests) == requests
    shown = f"http://127.0.0.1:{server.server_port}/…"
    assert f"warning: the alert by webhook {shown} failed: {why}" in done.stderr
    assert "secret-token" not in done.output
    assert (done.exit_code, "has no result" in done.stderr) == (1, True)
    (path,) = (folder / ".gpuetl" / "p" / "runs").iterdir()
    assert "secret-token" not in path.read_text()


def test_a_server_that_is_not_there_is_a_warning(folder):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/x"
        done = gpuetl("run", pipeline(folder, f"on_success: [{{webhook: '{url}'}}]"), "--engine", "pandas")
    assert done.exit_code == 0
    assert "failed: Connection refused, 3 times" in done.output


def test_an_interrupted_run_tells(folder):
    """In a process of its own, which exits as if there were no alert."""
    write_rows(folder, [1])
    file = pipeline(folder, f"on_failure: [{keep('failed')}, {{command: ['false']}}]")
    script = (
        "import os, signal\nimport gpuetl.run.pipeline_run as pipeline_run\nfrom gpuetl.cli import main\n"
        "pipeline_run.check_sinks = lambda plan: os.kill(os.getpid(), signal.SIGTERM)\nmain()"
    )
    environment = {**environment_without_coverage(), "PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, "-c", script, "run", str(file), "--engine", "pandas", "--quiet"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 143
    assert json.loads((folder / "failed.json").read_text())["status"] == "interrupted"
    assert "warning: the alert by command 'false' failed: exit code 1" in done.stderr
    assert "interrupted (SIGTERM)" in done.stderr


def test_a_variable_that_is_not_set_stops_the_run_before_it_begins(folder, monkeypatch):
    monkeypatch.delenv("HOOK_URL", raising=False)
    file = pipeline(folder, f'on_failure: [{{webhook: "${{env.HOOK_URL}}"}}, {keep("failed")}]')
    for command in (["run", file, "--engine", "pandas"], ["validate", file]):
        done = gpuetl(*command)
        assert done.exit_code == 2
        assert f"{file}:3:24: on_failure: the environment variable HOOK_URL is not set" in done.stderr
    assert not (folder / "out.parquet").exists()
    assert json.loads((folder / "failed.json").read_text())["problems"][0]["code"] == "GE1019"


def test_tests_and_tables_need_no_variable_and_send_nothing(folder, monkeypatch):
    monkeypatch.delenv("HOOK_URL", raising=False)
    file = pipeline(folder, f'on_failure: [{{webhook: "${{env.HOOK_URL}}"}}]\non_success: [{keep("done")}]')
    file.write_text(file.read_text() + "tests: [{name: t, given: {rows: [{x: 1}]}, expect: {kept: [{x: 1, y: 1}]}}]\n")
    assert gpuetl("test", file, "--engine", "pandas").exit_code == 0
    assert gpuetl("show", file, "kept", "--engine", "pandas").exit_code == 0
    assert gpuetl("verify", file, "--engine", "pandas").exit_code == 0
    assert not (folder / "done.json").exists()


def test_a_sandbox_runs_and_sends_nothing(folder):
    file = pipeline(folder, f"on_failure: [{keep('failed')}]\non_success: [{keep('done')}]")
    done = gpuetl("run", file, "--engine", "pandas", "--sandbox", folder)
    assert done.exit_code == 2
    assert "an alert runs a command, or sends data, of the file's author, which a sandbox does not allow" in done.stderr
    assert not (folder / "failed.json").exists()


@pytest.mark.parametrize(
    ("alerts", "message", "hint"),
    [
        ("on_failure: notify", "on_failure: takes a list of commands and webhooks, got ", "Write a list such as"),
        ("on_failure: [{command: notify --all}]", "command takes a list of arguments, got a string, which no shell splits", "Write command: [notify, --all]."),
        ("on_failure: [{command: []}]", "command takes a list of arguments, got an empty list", "Write a list"),
        ("on_failure: [{command: [x, [y]]}]", "an argument of a command is a string or a number, got a list", "Write it in quotes."),
        ("on_failure: [notify]", "takes a command or a webhook, got ", "Write a list such as"),
        ("on_failure: [{command: [a], webhook: 'https://x'}]", "needs exactly one of command, webhook", "Write a list"),
        ("on_failure: [{comand: [a]}]", "unknown key 'comand'", "Did you mean 'command'?"),
        ("on_success: [{webhook: 'ftp://x/y'}]", "webhook takes a URL that begins with https:// or http:// and a host", "Write https://…"),
        ("on_success: [{webhook: 'https://'}]", "webhook takes a URL that begins with", "Write https://…"),
        ("on_success: [{webhook: 'http://x:99999/'}]", "webhook takes a URL that begins with", "Write https://…"),
        ("on_success: [{webhook: 3}]", "webhook takes a URL, got", "Write https://…"),
        ("on_sucess: []", "unknown key 'on_sucess'", "Did you mean 'on_success'?"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(folder, alerts, message, hint):
    done = gpuetl("validate", pipeline(folder, alerts))
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{folder}/p.yaml:3:")
    assert message in done.stderr
    assert hint in done.stderr


def test_no_message_shows_the_path_of_a_webhook(folder):
    done = gpuetl("validate", pipeline(folder, "on_failure: [{webhook: 'ftp://example.com/secret-token'}]"))
    assert "secret-token" not in done.output
    assert "ftp://example.com****" in done.output


def test_alerts_are_written_as_yaml(folder):
    text = "on_failure: [{command: [notify, 3]}]\non_success: [{webhook: '${env.HOOK_URL}'}]"
    p = load(pipeline(folder, text))
    again = p.to_yaml()
    assert "command: [notify, '3']" in again.replace('"', "'")
    (folder / "again.yaml").write_text(again)
    assert load(folder / "again.yaml").spec.on_success == p.spec.on_success
    with pytest.raises(InvalidPipeline, match="may be a secret"):
        load(pipeline(folder, "on_success: [{webhook: 'https://example.com/secret'}]")).to_yaml()


def test_python_refuses_what_a_file_refuses():
    p = Pipeline("built")
    with pytest.raises(InvalidPipeline, match="command takes a list of arguments, got a string"):
        p.on_failure(command="notify --all")  # type: ignore[arg-type]
    with pytest.raises(InvalidPipeline, match="webhook takes a URL"):
        p.on_success(webhook="example.com")
    with pytest.raises(InvalidPipeline, match="exactly one of command, webhook"):
        p.on_success()


def test_an_alert_is_not_sent_by_a_shell(folder):
    file = pipeline(folder, f"on_success: [{keep('done', '$(touch oops)', '; touch oops', os.sep)}]")
    assert gpuetl("run", file, "--engine", "pandas").exit_code == 0
    assert not (folder / "oops").exists()
    assert (folder / "done.env").read_text().split("\n")[3:] == ["$(touch oops)", "; touch oops", "/"]
