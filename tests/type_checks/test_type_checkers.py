"""Type checkers and editors know the Python interface: they find typos, and complete public names."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

import gpuetl
import gpuetl.functions
from gpuetl import Expression, Table, col
from gpuetl.expressions.functions import FUNCTIONS

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
TYPOS, RIGHT = HERE / "twenty_typos.py", HERE / "right.py"
PYTHON_NAMES = {"and": "and_", "or": "or_", "not": "not_", "in": "is_in", "count_rows": "count"}


def typo_lines():
    lines = TYPOS.read_text().splitlines()
    return set(range(lines.index("# one typo a line") + 2, len(lines) + 1))


def lines_by_mypy(folder):
    """Return the lines of both files in which mypy finds errors, as a user of the installed package sees them."""
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n[mypy-pyarrow.*,pandas.*]\nignore_missing_imports = True\n"
    )
    command = ["mypy", "--config-file", folder / "mypy.ini", "--output", "json", "--cache-dir", folder / "cache"]
    done = subprocess.run(
        [sys.executable, "-m", *command, TYPOS, RIGHT], env={**os.environ, "MYPYPATH": str(SOURCE)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    errors = [json.loads(line) for line in done.stdout.splitlines()]
    return by_file((error["file"], error["line"]) for error in errors if error["severity"] == "error")


def lines_by_pyright(folder):
    """Return the same of pyright."""
    for file in (TYPOS, RIGHT):
        shutil.copy(file, folder)
    settings = {"extraPaths": [str(SOURCE)], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", folder]
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    report = json_printed(
        lambda: subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    )
    errors = [each for each in report["generalDiagnostics"] if each["severity"] == "error"]
    return by_file((error["file"], error["range"]["start"]["line"] + 1) for error in errors)


def json_printed(run, tries=3):
    """Return the JSON that a command prints.  Try again where it prints none: Node may be killed on a busy machine."""
    for _ in range(tries):
        done = run()
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            failed = done
    pytest.fail(f"no JSON in {tries} tries; exit code {failed.returncode}\n{failed.stdout}\n{failed.stderr}")


def by_file(places):
    found = {"twenty_typos.py": set(), "right.py": set()}
    for file, line in places:
        found.setdefault(Path(file).name, set()).add(line)
    return found


@pytest.mark.part(8)
@pytest.mark.parametrize("lines_of", [lines_by_mypy, lines_by_pyright])
def test_all_twenty_typos_are_found_and_nothing_else(lines_of, tmp_path):
    found = lines_of(tmp_path)
    assert len(typo_lines()) == 20
    assert found["twenty_typos.py"] == typo_lines()
    assert found["right.py"] == set()


def test_a_checker_that_prints_no_json_is_run_again():
    runs = iter(["", "Killed", '{"a": 1}'])
    assert json_printed(lambda: subprocess.CompletedProcess([], 1, next(runs), "")) == {"a": 1}
    with pytest.raises(pytest.fail.Exception, match="no JSON in 2 tries; exit code -9\nhalf"):
        json_printed(lambda: subprocess.CompletedProcess([], -9, "half", "out of memory"), tries=2)


def completions(code):
    return {completion.name for completion in jedi.Script(code).complete()}


def live(code):
    """Return what IPython completes, which knows the objects."""
    return {completion.name for completion in jedi.Interpreter(code, [{"gpuetl": gpuetl}]).complete()}


def test_editors_complete_steps_and_keys_of_formats():
    begin = 'from gpuetl import Pipeline\ntable = Pipeline("p").read_parquet("a", "b")\n'
    assert {"filter", "join", "group_by", "pipe", "write_parquet"} <= completions(f"{begin}table.limit(1).")
    assert {"delimiter=", "on_bad_row="} <= completions(f'{begin}table.pipeline.read_csv("a", "b", {{}}, ')
    assert {"nulls_equal=", "validate="} <= completions(f'{begin}table.join(table, "a", ')


def test_editors_complete_all_functions_of_an_expression():
    """Of those that take a value of a row; the others are functions alone."""
    names = {
        PYTHON_NAMES.get(name, name)
        for (_, name), function in FUNCTIONS.items()
        if any(argument.is_receiver for argument in function.arguments)
        and name not in ("struct_pack", "count_rows", "list_value", "json_object")
    }
    found = completions('from gpuetl import col\ncol("x").')
    assert names <= found
    assert names <= set(dir(col("x")))


def test_every_function_is_one_of_the_module():
    names = {PYTHON_NAMES.get(name, name) for _, name in FUNCTIONS}
    assert names == set(gpuetl.functions.__all__)
    assert names <= completions("import gpuetl.functions as f\nf.")


def test_editors_complete_public_names_of_the_package_only():
    public = {*gpuetl.__all__, "functions", "selectors", "__version__"}
    assert set(dir(gpuetl)) == public
    assert {name for name in live("gpuetl.") if not name.startswith("__")} == public - {"__version__"}
    assert public - {"__version__"} <= completions("import gpuetl\ngpuetl.")
    for name in gpuetl.__all__:
        assert getattr(gpuetl, name) is not None


@pytest.mark.parametrize("of", [Table, Expression])
def test_dir_lists_what_has_a_docstring(of):
    """Names without an underscore are for users: each says what it does."""
    public = [name for name in dir(of) if not name.startswith("_")]
    assert [name for name in public if not getattr(of, name).__doc__] == []


def test_files_that_are_written_from_the_tables_are_up_to_date():
    import generate_formats
    import generate_functions

    for module in (generate_functions, generate_formats):
        for path, text in module.sources().items():
            assert path.read_text(encoding="utf-8") == text, f"run make docs: {path}"
