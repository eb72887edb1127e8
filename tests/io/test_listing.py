"""What a source's path names: which files are read, and what is told of what cannot be."""

import os
import re
import socket
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

import gpuetl
from gpuetl import InvalidPipeline, Pipeline
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.overlooked import overlooked_warnings
from gpuetl.places.file_state import DatasetError
from gpuetl.places.local.listing import list_files
from messages import without_codes

ROWS = "x\n1\n"


def names(path, suffix=".csv"):
    return [str(found.path) for found in list_files(path, suffix).files]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of files, below which paths are relative."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "lake/a.csv", "lake/b/c.csv", "lake/b-1.csv", "lake/_x.csv", "lake/.y.csv", "lake/_tmp/z.csv", "lake/.git/g.csv",
        "lake/_p=1/p.csv", "lake/b/d/e.csv", "lake/notes.txt", "lake/day.csv/f.csv",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ROWS)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lake", "lake/_p=1/p.csv lake/a.csv lake/b/c.csv lake/b/d/e.csv lake/b-1.csv lake/day.csv/f.csv"),
        ("lake/_x.csv", "lake/_x.csv"),
        ("lake/.y.csv", "lake/.y.csv"),
        ("lake/_tmp", "lake/_tmp/z.csv"),
        ("lake/.git/g.csv", "lake/.git/g.csv"),
        ("lake/*.csv", "lake/a.csv lake/b-1.csv"),
        ("*/a.csv", "lake/a.csv"),
        ("lake/_*.csv", "lake/_x.csv"),
        ("lake/.*.csv", "lake/.y.csv"),
        ("lake/*/_x.csv", ""),
        ("*/_x.csv", "lake/_x.csv"),
        ("lake/**/*.csv", "lake/_p=1/p.csv lake/a.csv lake/b/c.csv lake/b/d/e.csv lake/b-1.csv lake/day.csv/f.csv"),
        ("lake/**/**/e.csv", "lake/b/d/e.csv"),
        ("lake/b/**", "lake/b/c.csv lake/b/d/e.csv"),
        ("lake/[ab]*", "lake/a.csv lake/b-1.csv"),
        ("lake/*/*.csv", "lake/_p=1/p.csv lake/b/c.csv lake/day.csv/f.csv"),
        ("lake/_*/*.csv", "lake/_p=1/p.csv lake/_tmp/z.csv"),
        ("lake/.*/*.csv", "lake/.git/g.csv"),
        ("lake/notes.txt", "lake/notes.txt"),
        ("none", ""),
        ("lake/a.csv/x.csv", ""),
        ("none/*.csv", ""),
        ("lake/a.csv/*.csv", ""),
    ],
)
def test_a_path_names_files_as_in_a_shell(here, path, expected):
    from pathlib import Path

    assert names(Path(path)) == expected.split()
    assert names(here / path) == [str(here / name) for name in expected.split()]


def listing_error(path):
    with pytest.raises(DatasetError) as caught:
        list_files(path, ".csv")
    return str(caught.value), caught.value.hint


def fifo(path):
    os.mkfifo(path)


def bound_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def dangling(path):
    path.symlink_to("nowhere")


def loop(path):
    path.symlink_to(path.name)


def to_a_device(path):
    path.symlink_to("/dev/null")


KINDS = {
    fifo: "is a named pipe (FIFO), and gpuetl reads files",
    bound_socket: "is a socket, and gpuetl reads files",
    to_a_device: "is a character device, and gpuetl reads files",
    dangling: "is a link to nowhere, which does not exist",
    loop: "is a link that leads to itself",
}


@pytest.mark.parametrize("path", ["z.csv", ".", "*.csv", "**/*.csv", "**"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_no_file_is_called_what_it_is(tmp_path, monkeypatch, kind, path):
    monkeypatch.chdir(tmp_path)
    kind(tmp_path / "z.csv")
    (tmp_path / "a.csv").write_text(ROWS)
    message, hint = listing_error(tmp_path / path)
    assert message == f"{tmp_path}/z.csv {KINDS[kind]}"
    assert hint.endswith("take it out of the source's path.")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_no_file_and_has_another_suffix_is_left_alone(tmp_path, kind):
    kind(tmp_path / "z.lock")
    (tmp_path / "a.csv").write_text(ROWS)
    assert names(tmp_path) == [f"{tmp_path}/a.csv"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_pipe_that_takes_a_file_s_place_is_not_waited_for(tmp_path, form):
    path = tmp_path / f"a.{form}"
    path.write_text(ROWS)
    dataset = Dataset("s", form, path)
    assert len(dataset.files) == 1
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DatasetError, match="is a named pipe"):
        _ = dataset.stored(dataset.files[0])


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("empty.csv", "empty.csv is a folder that holds no .csv file", "Check the path"),
        ("empty", "empty holds no .csv file", "Check the path"),
        ("*.csv", "*.csv matches no file, but the folder empty.csv", "A glob reads the files that it matches: write *.csv/*.csv"),
        ("*.tsv", "*.tsv matches no file", "Check the path"),
        ("none", "none does not exist", "Check the path"),
    ],
)  # fmt: skip
def test_a_source_without_files_says_what_the_path_is(tmp_path, monkeypatch, path, message, hint):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    for name in ("empty", "empty.csv"):
        (tmp_path / name).mkdir()
    with pytest.raises(DatasetError) as caught:
        _ = Dataset("s", "csv", Path(path)).files
    assert str(caught.value) == message
    assert caught.value.hint.startswith(hint)


@pytest.fixture
def linked(tmp_path):
    """A folder with a link to one of its own subfolders, one to a folder elsewhere, and one to the folder itself."""
    for name in ("lake/day=1/a.csv", "other/b.csv"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(ROWS)
    (tmp_path / "lake/latest").symlink_to("day=1")
    (tmp_path / "lake/more").symlink_to("../other")
    (tmp_path / "lake/self").symlink_to(".")
    return tmp_path


@pytest.mark.parametrize("path", ["lake", "lake/**/*.csv"])
def test_links_to_folders_below_a_path_are_not_followed(linked, path):
    listing = list_files(linked / path, ".csv")
    assert [found.path for found in listing.files] == [linked / "lake/day=1/a.csv"]
    (warning,) = overlooked_warnings(Dataset("s", "csv", linked / path))
    assert warning == (
        f"1 link to a folder is not followed: {linked}/lake/more.  "
        "Read such a folder as a separate source, or name the link in a glob."
    )
    assert warning.code == "GE1725"


def test_links_to_folders_that_a_path_names_are_followed(linked):
    assert names(linked / "lake/more") == [f"{linked}/lake/more/b.csv"]
    assert names(linked / "lake/more/*.csv") == [f"{linked}/lake/more/b.csv"]
    assert names(linked / "lake/*/b.csv") == [f"{linked}/lake/more/b.csv"]


def test_a_file_that_is_read_by_two_paths_is_a_warning(linked):
    files = names(linked / "lake/*/*.csv")
    assert files == [f"{linked}/lake/day=1/a.csv", f"{linked}/lake/latest/a.csv", f"{linked}/lake/more/b.csv"]
    (warning,) = overlooked_warnings(Dataset("s", "csv", linked / "lake/*/*.csv"))
    assert warning == (
        f"{linked}/lake/latest/a.csv and {linked}/lake/day=1/a.csv are one file, whose rows are read twice."
    )
    assert warning.code == "GE1726"


def denied(monkeypatch, folder):
    """Have a folder refuse to be listed, as it does to users without the permission."""
    whole = os.scandir

    def scandir(path):
        if os.fspath(path) == str(folder):
            raise PermissionError(13, "Permission denied", str(path))
        return whole(path)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize("path", ["lake", "lake/**/*.csv", "lake/*/*.csv"])
def test_a_folder_that_cannot_be_listed_is_an_error(here, monkeypatch, path):
    denied(monkeypatch, here / "lake/b")
    message, hint = listing_error(here / path)
    assert message == f"cannot list the folder {here}/lake/b: Permission denied"
    assert hint == (
        "Give the user of the run the permission to read and enter it, or leave it out of the source's path."
    )


def test_a_hidden_folder_that_cannot_be_listed_is_left_alone(here, monkeypatch):
    denied(monkeypatch, here / "lake/_tmp")
    assert len(names(here / "lake")) == 6


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("lake", "cannot list the folder lake/b: Permission denied"),
        ("lake/*/d/e.csv", "cannot look at lake/b/d: Permission denied"),
        ("lake/b/c.csv", "cannot look at lake/b/c.csv: Permission denied"),
        ("lake/b/*.csv", "cannot list the folder lake/b: Permission denied"),
        ("lake/b/d/*.csv", "cannot look at lake/b/d: Permission denied"),
    ],
)
def test_another_user_is_told_what_it_may_not_see(here, path, message):
    here.chmod(0o755)
    (here / "lake/b").chmod(0)
    code = f"""
        import os
        from pathlib import Path
        from gpuetl.places.file_state import DatasetError
        from gpuetl.places.local.listing import list_files
        os.seteuid(65534)
        try:
            print(list_files(Path("{path}"), ".csv").files)
        except DatasetError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
    assert done.stdout == f"{message}\n"


def test_a_run_shows_the_folders_that_it_looks_into(here, monkeypatch):
    monkeypatch.setattr("gpuetl.places.watching.EVERY_S", 0)
    shown = []
    pipeline = Pipeline("test", root=here)
    pipeline.read_csv("s", "lake/**/*.csv", {"x": "int64"}).write_csv("out", "out.csv")
    pipeline.run(engine="pandas", progress=lambda origin, done, of: shown.append((str(origin), done, of)))
    looked = [one for one in shown if one[0] == f"folders below '{here}/lake/**/*.csv'"]
    assert looked[-1][1] == 10  # 5 folders, each for `**` and for what follows
    assert [done for _, done, _ in looked] == sorted(done for _, done, _ in looked)


PIPELINE = """\
gpuetl: 1
name: p
sources: {s: {csv: "lake/**/*.csv", schema: {x: int64}}}
sinks: {out: {from: s, csv: out.csv}}
"""


def test_a_wide_glob_stops_at_once(here):
    """Each folder takes 50 ms to list, as on a network file system; there are ever more of them."""
    (here / "p.yaml").write_text(PIPELINE)
    code = """
        import os, signal, threading, time
        whole, listed = os.scandir, []
        def scandir(path="."):
            if os.fspath(path).startswith("lake"):
                listed.append(path)
                time.sleep(0.05)
                os.makedirs(os.path.join(path, "deeper"), exist_ok=True)
                if len(listed) == 12:
                    print("interrupting", time.monotonic())
                    os.kill(os.getpid(), signal.SIGINT)
            return whole(path)
        os.scandir = scandir
        from gpuetl.cli import main
        try:
            main()
        finally:
            print("left", time.monotonic())
    """
    command = [sys.executable, "-c", textwrap.dedent(code), "run", "p.yaml", "--engine", "pandas"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 130, done.stderr
    assert without_codes(done.stderr).split("\n") == [
        "interrupted (SIGINT): no sink has changed",
        "",
    ]
    times = dict(line.split() for line in done.stdout.splitlines() if line.startswith(("interrupting", "left")))
    assert float(times["left"]) - float(times["interrupting"]) < 1


def test_a_named_pipe_is_refused_by_a_run_before_it_reads(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    pipeline = Pipeline("test", root=tmp_path)
    pipeline.read_parquet("s", "a.csv").write_csv("out", "out.csv")
    with pytest.raises(InvalidPipeline, match=r"source 's': .*a\.csv is a named pipe \(FIFO\), and gpuetl reads files"):
        pipeline.run(engine="pandas")


COMMANDS = {"plan": [], "validate": [], "test": ["--from-run", "s", "--engine", "pandas"]}
SLOW_LAKE = """
    import os, signal, time
    from gpuetl.cli import scan_progress
    scan_progress.AFTER_S = 0.1
    whole, listed = os.scandir, []
    def scandir(path="."):
        if os.fspath(path).startswith("lake"):
            listed.append(path)
            time.sleep(0.05)
            if len(listed) < 16:
                os.makedirs(os.path.join(path, "deeper"), exist_ok=True)
            if len(listed) == {interrupted}:
                os.kill(os.getpid(), signal.SIGINT)
        return whole(path)
    os.scandir = scandir
    from gpuetl.cli import main
    main()
"""


def child_environment():
    """Return what a process needs to find gpuetl."""
    return {**os.environ, "PYTHONPATH": str(Path(gpuetl.__file__).parents[1]), "TERM": "xterm"}


def on_a_terminal(folder, *command):
    """Run a command whose stderr is a terminal; return its exit code, and what the terminal got."""
    terminal, stderr = os.openpty()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, env=child_environment()
    ) as process:
        os.close(stderr)
        shown = b""
        with suppress(OSError):  # EIO, when the other side is closed
            while piece := os.read(terminal, 1 << 16):
                shown += piece
        os.close(terminal)
    return process.returncode, without_codes(shown.decode()).replace("\r\n", "\n")


@pytest.mark.part(6)
@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_run_nothing_show_long_looks_on_a_terminal(here, command):
    (here / "p.yaml").write_text(PIPELINE)
    code = textwrap.dedent(SLOW_LAKE.format(interrupted=0))
    arguments = [command, "p.yaml", *COMMANDS[command]]
    exit_code, shown = on_a_terminal(here, sys.executable, "-c", code, *arguments)
    assert exit_code == 0, shown
    looks = shown.split("\r\x1b[K")
    assert re.fullmatch(r"  folders below lake/\*\*/\*\.csv: \d+ of \d+", looks[1])
    assert looks[-1].strip() == ""  # nothing stays


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_long_look_stops_at_once(here, command):
    (here / "p.yaml").write_text(PIPELINE)
    code = textwrap.dedent(SLOW_LAKE.format(interrupted=12))
    arguments = [command, "p.yaml", *COMMANDS[command]]
    exit_code, shown = on_a_terminal(here, sys.executable, "-c", code, *arguments)
    assert exit_code == 130
    assert shown.split("\r\x1b[K")[-1].startswith("interrupted (SIGINT)")


@pytest.mark.slow
def test_no_look_is_shown_elsewhere(here):
    (here / "p.yaml").write_text(PIPELINE)
    code = textwrap.dedent(SLOW_LAKE.format(interrupted=0))
    command = [sys.executable, "-c", code, "validate", "p.yaml"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True, env=child_environment())
    assert done.stderr == ""
