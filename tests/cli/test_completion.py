"""Completion in real shells: the words that a shell offers when the user presses the tab key."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command import environment_without_coverage, gpuetl
from gpuetl.cli import COMMANDS

SOURCE = Path(__file__).parents[2] / "src"
PIPELINE = """\
gpuetl: 1
name: p
params: {run_date: {type: date, default: 2026-11-01}, region: {type: string, default: EU}}
profiles: {dev: {engine: pandas}, prod: {engine: auto}}
sources: {sales: {csv: sales.csv, schema: {x: int64}}}
stages:
  clean: {from: sales, steps: [limit: 1]}
  totals: {from: clean, steps: [limit: 1]}
tests:
  - {name: one, given: {sales: []}, expect: {clean: []}}
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a pipeline and other files, and the command `gpuetl`."""
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "work" / "daily.yaml").write_text(PIPELINE)
    (tmp_path / "work" / "data.csv").write_text("x\n1\n")
    command = tmp_path / "bin" / "gpuetl"
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from gpuetl.cli.ending import run_and_end; run_and_end()" "$@"\n'
    )
    command.chmod(0o755)
    return tmp_path / "work"


def shell(name, script, folder, *arguments):
    """Run a script in a shell, without the user's own settings; return what it prints."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"needs {name}: apt-get install {name}")
    path = f"{folder.parent / 'bin'}:{os.environ['PATH']}"
    paths = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**environment_without_coverage(), "PATH": path, "PYTHONPATH": paths, "HOME": str(folder.parent)}
    environment |= {"XDG_CONFIG_HOME": str(folder.parent / "config")}
    options = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    done = subprocess.run(
        [program, *options, "-c", script, name, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


BASH = """
eval "$(gpuetl completion bash)"
COMP_LINE="$1"
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
read -r -a COMP_WORDS <<< "$COMP_LINE"
case "$COMP_LINE" in *' ') COMP_WORDS+=('');; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
complete -p gpuetl > /dev/null
function=$(complete -p gpuetl | sed 's/.* -F \\([^ ]*\\).*/\\1/')
"$function" gpuetl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(line, folder):
    """Return the words that bash offers at the end of a line."""
    return {word.rstrip() for word in shell("bash", BASH, folder, line).splitlines() if word}


def test_bash_completes_commands_and_options(folder):
    assert offered("gpuetl ", folder) >= set(COMMANDS)
    assert offered("gpuetl va", folder) == {"validate"}
    assert {"--engine", "--memory", "--profile", "--params-file"} <= offered("gpuetl run daily.yaml --", folder)


def test_bash_completes_files_of_pipelines(folder):
    assert offered("gpuetl run ", folder) >= {"daily.yaml", "sub/"}
    assert "data.csv" not in offered("gpuetl run ", folder)
    assert offered("gpuetl run da", folder) == {"daily.yaml"}
    assert offered("gpuetl schema da", folder) == {"daily.yaml", "data.csv"}


def test_bash_completes_names_of_the_pipeline(folder):
    assert offered("gpuetl show daily.yaml c", folder) == {"clean"}
    assert offered("gpuetl show daily.yaml ", folder) >= {"clean", "totals", "sales"}
    assert offered("gpuetl run daily.yaml --profile ", folder) == {"dev", "prod"}
    assert offered("gpuetl run daily.yaml -p ", folder) == {"run_date=", "region="}
    assert offered("gpuetl verify daily.yaml --stage t", folder) == {"totals"}
    assert offered("gpuetl test daily.yaml --test ", folder) == {"one"}


def test_bash_completes_engines_and_codes(folder):
    assert offered("gpuetl run daily.yaml --engine ", folder) >= {"auto", "pandas", "cudf", "dask", "dask-cuda"}
    assert "GE1003" in offered("gpuetl explain GE100", folder)
    assert offered("gpuetl completion ", folder) >= {"bash", "zsh", "fish"}


def test_a_file_that_cannot_be_read_gives_no_names(folder):
    (folder / "wrong.yaml").write_text("gpuetl: [\n")
    assert offered("gpuetl show wrong.yaml ", folder).isdisjoint({"clean"})
    assert offered("gpuetl run missing.yaml --profile ", folder) == set()


def test_fish_completes(folder):
    script = "gpuetl completion fish | source; complete --do-complete 'LINE'"
    words = shell("fish", script.replace("LINE", "gpuetl va"), folder).split()
    assert words[0] == "validate"
    assert "dev" in shell("fish", script.replace("LINE", "gpuetl run daily.yaml --profile "), folder)


def test_zsh_takes_the_script(folder):
    script = """
autoload -U compinit && compinit -u -D
eval "$(gpuetl completion zsh)"
print -r -- ${_comps[gpuetl]}
_describe() { print -r -- ${(P)2} }
words=(gpuetl run daily.yaml --profile '')
BUFFER='gpuetl run daily.yaml --profile '
CURSOR=${#BUFFER}
_python_argcomplete
"""
    printed = shell("zsh", script, folder).splitlines()
    assert printed[0].startswith("_python_argcomplete")
    assert {"dev", "prod"} <= {word.rstrip(":") for word in " ".join(printed[1:]).split()}


def test_a_script_is_printed_for_each_shell():
    for name in ("bash", "zsh", "fish"):
        assert "gpuetl" in gpuetl("completion", name).stdout
    assert "invalid choice: 'tcsh'" in gpuetl("completion", "tcsh").stderr
