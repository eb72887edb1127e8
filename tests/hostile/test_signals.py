"""Signals: a run that is told to stop changes nothing, or everything, and leaves nothing behind."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import environment_without_coverage
from gpuetl import load
from gpuetl.io.staging import SinkWriter
from gpuetl.places.local.commit.journal import Journal
from gpuetl.places.local.commit.moves import Put
from gpuetl.signals import Stopped, held_signals, stopping
from messages import without_codes
from sink_files import OF_EARLIER_VERSION, leftovers

NEW = """\
gpuetl: 1
name: p
sources:
  t: {parquet: t.parquet}
stages:
  slow:
    from: t
    steps:
      - kernel: {cuda: k.cu, entry: k, inputs: x, outputs: {y: int64}, reference: k.py:k}
sinks:
  a: {from: t, parquet: a.parquet, mode: overwrite}
  b: {from: slow, parquet: b, mode: overwrite}
  c: {from: slow, csv: deep/er/c.csv, mode: overwrite}
"""
CUDA = 'extern "C" __global__ void k(const long long* x, long long* y, long long n) {}\n'
TWIN = """\
import pathlib, time

def k(x):
    pathlib.Path(__file__).with_name("begun").touch()
    while not pathlib.Path(__file__).with_name("go").exists():
        time.sleep(0.01)
    return {"y": x + 1}
"""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
MAIN = "from gpuetl.cli import main; main()"
HEARING = f"""\
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
{MAIN}
"""
"""Runs the command line with the usual handlers: a child of `nohup` or of a shell's job ignores what its parent does."""


@pytest.fixture
def folder(tmp_path):
    """A pipeline of three sinks, two of which are there already; its kernel waits for a file `go`."""
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "t.parquet")
    pq.write_table(pa.table({"x": [0]}), tmp_path / "a.parquet")
    (tmp_path / "b").mkdir()
    pq.write_table(pa.table({"x": [0]}), tmp_path / "b" / OF_EARLIER_VERSION)
    for name, text in {"p.yaml": NEW, "k.cu": CUDA, "k.py": TWIN}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def state(folder):
    """Return every path below the folder, and the bytes of files; what Python and the kernel leave does not count."""
    paths = (
        path
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
        and path.name not in ("begun", "go")
        and folder / ".gpuetl" not in (path, *path.parents)  # manifests
    )
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def started(folder, *arguments):
    command = [sys.executable, "-c", HEARING, "run", "-q", str(folder / "p.yaml"), *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.part(4)
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_a_signal_in_the_middle_of_a_run_leaves_all_as_it_was(folder, number):
    before = state(folder)
    process = started(folder)
    wait_for(folder / "begun", process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == CODES[number]
    assert errors == f"interrupted ({number.name}): no sink has changed\n"
    assert state(folder) == before


def test_a_second_signal_does_not_break_off_what_the_first_one_cleans_up(folder):
    before = state(folder)
    process = started(folder)
    wait_for(folder / "begun", process)
    for _ in range(20):
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    process.communicate(timeout=60)
    assert process.returncode in (130, 143, -signal.SIGTERM, -signal.SIGINT)  # by itself, or while Python ends
    assert state(folder) == before


def test_a_signal_that_is_ignored_stays_ignored(folder):
    code = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); {MAIN}"
    process = subprocess.Popen([sys.executable, "-c", code, "run", "-q", str(folder / "p.yaml")])
    wait_for(folder / "begun", process)
    process.send_signal(signal.SIGHUP)
    (folder / "go").touch()
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    ("owner", "name"), [(ThreadPoolExecutor, "shutdown"), (SinkWriter, "close")], ids=["at first", "in the middle"]
)
def test_a_signal_while_a_finished_run_cleans_up_leaves_nothing_behind(folder, monkeypatch, owner, name):
    """It is raised when the folders of all sinks are gone."""
    (folder / "go").touch()
    whole, sent = getattr(owner, name), []

    def interrupted(self, *args, **options):
        if not sent:
            sent.append(signal.raise_signal(signal.SIGTERM))
        return whole(self, *args, **options)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(Stopped), stopping():
        load(folder / "p.yaml").run(engine="pandas")
    assert sent
    assert not leftovers(folder)


@pytest.mark.parametrize("name", ["pipeline_run.add_notes", "account.stage_reports"])
def test_a_signal_after_the_sinks_are_in_place_says_so(folder, monkeypatch, name):
    """Also one that comes while a cluster is closed: that is before the report."""
    (folder / "go").touch()
    monkeypatch.setattr("gpuetl.run." + name, lambda *_: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(Stopped) as stopped, stopping():
        load(folder / "p.yaml").run(engine="pandas")
    assert stopped.value.__notes__[0] == "all sinks are written"


def test_signals_at_any_time_leave_all_sinks_old_or_all_new(folder, pytestconfig):
    (folder / "go").touch()
    draw = random.Random(1)
    start = time.perf_counter()
    whole = started(folder)
    whole.communicate(timeout=60)
    assert whole.returncode == 0
    seconds = time.perf_counter() - start
    (folder / "a.parquet").write_bytes(b"old")
    for _ in range(20 if pytestconfig.getoption("full") else 5):
        before = state(folder)
        process = started(folder)
        time.sleep(seconds * draw.uniform(0.2, 1.0))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode in (0, 143, -signal.SIGTERM)
        after = state(folder)
        assert {name for name in after if not name.startswith("b/")} == {n for n in before if not n.startswith("b/")}
        changed = {name.split("/")[0] for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        assert changed in (set(), {"b"}, {"a.parquet", "b"})  # the first and third write the same bytes again
        assert (after["a.parquet"] == b"old") == ("a.parquet" not in changed)
        (folder / "a.parquet").write_bytes(b"old")


def test_a_signal_that_an_import_takes_for_its_own_error_still_ends_the_program():
    def importing():
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:
            raise ImportError("an extension failed to load") from None

    with pytest.raises(Stopped) as caught, stopping():
        importing()
    assert caught.value.exit_code == 143


@pytest.mark.parametrize("at", range(6))
def test_a_signal_in_the_commit_completes_it_or_undoes_it(folder, monkeypatch, at):
    """Three journals are written before the decision, and three moves are made after it."""
    (folder / "go").touch()
    before, done = state(folder), []

    def signalling(of, name):
        whole = getattr(of, name)

        def send(self, *arguments):
            if len(done) == at:
                os.kill(os.getpid(), signal.SIGTERM)
            done.append(name)
            whole(self, *arguments)

        monkeypatch.setattr(of, name, send)

    signalling(Journal, "write")
    signalling(Put, "apply")
    with stopping(), pytest.raises(Stopped) as stop:
        load(folder / "p.yaml").run(engine="pandas", keep=[])
    after = state(folder)
    assert not leftovers(folder)
    if at < 3:
        assert stop.value.__notes__ == ["no sink has changed"]
        assert after == before
    else:
        assert stop.value.__notes__ == ["all sinks are written"]
        assert {"a.parquet", "deep/er/c.csv"} <= {name for name in after if before.get(name) != after[name]}
        assert f"b/{OF_EARLIER_VERSION}" not in after


def test_handlers_of_the_program_wait_while_signals_are_held():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with held_signals() as held:
            os.kill(os.getpid(), signal.SIGTERM)
            assert heard == []
            held.deliver()
            assert heard == [signal.SIGTERM]
            os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM] * 2
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_error_is_reported_rather_than_the_signal_that_came_with_it():
    def fail():
        with held_signals():
            os.kill(os.getpid(), signal.SIGTERM)
            raise ValueError("told")

    with stopping(), pytest.raises(ValueError, match="told"):
        fail()


def test_handlers_are_as_before_when_the_command_has_ended():
    before = [signal.getsignal(number) for number in CODES]
    with stopping(), held_signals():
        pass
    assert [signal.getsignal(number) for number in CODES] == before


def test_other_threads_change_no_handler():
    handlers = []

    def work():
        with stopping(), held_signals() as held:
            handlers.append(signal.getsignal(signal.SIGTERM))
            held.deliver()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.parametrize("command", ["plan", "run", "validate"])
def test_a_pipe_that_nobody_reads_is_no_traceback(folder, command):
    (folder / "go").touch()
    read, write = os.pipe()
    os.close(read)
    line = [sys.executable, "-c", MAIN, command, str(folder / "p.yaml")]
    done = subprocess.run(line, check=False, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert "Broken" not in done.stderr


def test_a_disk_that_is_full_leaves_all_as_it_was(folder):
    (folder / "go").touch()
    pq.write_table(pa.table({"x": [i * 7919 % 100_003 for i in range(100_000)]}), folder / "t.parquet")
    before = state(folder)
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))"
    line = [
        sys.executable,
        "-c",
        f"{limited}; from gpuetl.cli import main; main()",
        "run",
        "-q",
        "--no-report",
        str(folder / "p.yaml"),
    ]
    done = subprocess.run(line, check=False, capture_output=True, text=True, env=environment_without_coverage())
    assert done.returncode == 1
    first, *source = without_codes(done.stderr).splitlines()
    assert first == f"error: {folder}/p.yaml:11:25: sink 'a': cannot write a.parquet: File too large"
    assert source == ["    a: {from: t, parquet: a.parquet, mode: overwrite}", " " * 26 + "^" * 9]
    assert state(folder) == before
