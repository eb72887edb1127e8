"""The command line as a user meets it: output, exit codes, what stays as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl.engines import registry
from gpuetl.engines.registry import GpuSearch

PIPELINE = """\
gpuetl: 1
name: small
params:
  least: {type: int64, default: 1}
sources:
  rows: {parquet: rows.parquet}
stages:
  kept:
    from: rows
    steps:
      - filter: x >= $least
      - with_columns: {y: x * 2}
sinks:
  out: {from: kept, parquet: out.parquet}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"x": pa.array([0, 1, 2, None], pa.int64())}), tmp_path / "rows.parquet", row_group_size=2)
    path = tmp_path / "small.yaml"
    path.write_text(PIPELINE)
    return path


def in_new_process(*arguments: object) -> list[str]:
    """Run the command and return the modules that it imported."""
    code = f"""
import sys
sys.argv = {["gpuetl", *map(str, arguments)]!r}
from gpuetl.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.split()


def test_run_writes_the_sink_and_says_engine_stages_and_sizes(file: Path):
    result = gpuetl("run", file)
    assert result.exit_code == 0, result.output
    assert "engine: pandas (" in result.stdout
    assert "kept" in result.stdout
    assert "first rows of out" in result.stdout
    assert pq.read_table(file.parent / "out.parquet").to_pydict() == {"x": [1, 2], "y": [2, 4]}


def test_a_run_looks_for_a_gpu_once(file: Path, monkeypatch: pytest.MonkeyPatch):
    looks: list[GpuSearch] = []
    monkeypatch.setattr(registry, "look_for_gpu", lambda: looks.append(GpuSearch(problem="none here")) or looks[0])
    done = gpuetl("run", file, "--report", file.parent / "report.json")
    assert "engine: pandas (none here)" in done.stdout
    assert json.loads((file.parent / "report.json").read_text())["reason"] == "none here"
    assert len(looks) == 1


def test_run_takes_parameters_as_text(file: Path):
    assert gpuetl("run", file, "-p", "least=2", "--quiet").exit_code == 0
    assert pq.read_table(file.parent / "out.parquet").to_pydict() == {"x": [2], "y": [4]}


def test_quiet_prints_nothing(file: Path):
    assert gpuetl("run", file, "-q").output == ""


def test_run_again_in_mode_error_fails_and_leaves_the_sink(file: Path):
    assert gpuetl("run", file, "-q").exit_code == 0
    before = (file.parent / "out.parquet").read_bytes()
    again = gpuetl("run", file, "-q", "-p", "least=2")
    assert again.exit_code == 1
    assert "out.parquet exists.  Choose mode: overwrite" in again.stderr
    assert (file.parent / "out.parquet").read_bytes() == before


def test_failed_run_names_stage_step_and_row_and_writes_nothing(file: Path):
    file.write_text(PIPELINE.replace("x * 2", "x * 9223372036854775807"))
    failed = gpuetl("run", file, "-q")
    assert failed.exit_code == 1
    assert "stage 'kept', step 2: column 'y': x * 9223372036854775807 has no result, for 2" in failed.stderr
    assert sorted(path.name for path in file.parent.iterdir()) == [".gpuetl", "rows.parquet", "small.yaml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "lest=2"], "unknown parameter 'lest'"),
        (["-p", "least=two"], "parameter 'least': 'two' is not a valid int64"),
        (["-p", "least"], "'least' is not name=value"),
        (["-p", "least=1", "-p", "least=2"], "'least' is given twice: 1 and 2.  Give it once"),
        (["--engine", "pandas", "--workers", "2"], "engine 'pandas' does not run on a cluster"),
        (["--engine", "dask", "--workers", "0"], "option workers takes a whole number from 1, got 0"),
        (["--engine", "dask", "--tls-ca", "ca.pem"], "TLS takes a cluster's address"),
        (["--engine", "panda"], "Did you mean 'pandas'?"),
        (["--skip", "push_filter"], "Did you mean 'push_filters'?"),
        (["--skip", "group_by_tables"], "Did you mean 'group_by_table'?"),
        (["--partition-rows", "0"], "option partition_rows takes a whole number from 1, got 0"),
        (["--memory", "0GB"], "option memory takes a whole number from 1, got 0"),
        (["--memory", "much"], "argument --memory: 'much' is not a valid size, such as 8GB or 500MB"),
    ],
)
def test_run_refuses_wrong_arguments(file: Path, arguments: list[str], message: str):
    refused = gpuetl("run", file, *arguments)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_report_is_written_as_json_and_as_a_page(file: Path, tmp_path: Path):
    assert gpuetl("run", file, "-q", "--report", tmp_path / "run.json").exit_code == 0
    report = json.loads((tmp_path / "run.json").read_text())
    kept = next(stage for stage in report["stages"] if stage["name"] == "kept")
    assert (kept["rows_in"], kept["rows_out"]) == (4, 2)
    assert report["sinks"][0]["rows"] == 2
    assert report["engine"] == "pandas"
    (file.parent / "out.parquet").unlink()
    assert gpuetl("run", file, "-q", "--report", tmp_path / "run.html").exit_code == 0
    assert "<h1>small</h1>" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize(
    ("option", "path", "message"),
    [("--report", "none/run.html", "none does not exist"), ("--trace", ".", "is a folder; name a file")],
)
def test_a_report_that_cannot_be_written_stops_the_run_before_it_begins(
    file: Path, option: str, path: str, message: str
):
    refused = gpuetl("run", file, option, file.parent / path)
    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())
    assert not (file.parent / "out.parquet").exists()


def test_validate_counts_what_it_found(file: Path):
    result = gpuetl("validate", file)
    assert result.exit_code == 0
    assert result.stdout.strip() == f"{file}: valid, 1 source, 1 stage, 1 sink"


def test_validate_tells_all_mistakes_and_exits_2(file: Path):
    file.write_text(PIPELINE.replace("x >= $least", "xx >= $least").replace("from: kept", "from: keept"))
    result = gpuetl("validate", file)
    assert result.exit_code == 2
    assert f"{file}:11:17: stage 'kept', step 1: unknown column 'xx'" in result.stderr
    assert "unknown source or stage 'keept'" in result.stderr


def test_validate_needs_no_value_of_a_required_parameter(file: Path):
    file.write_text(PIPELINE.replace("default: 1", "required: true"))
    assert gpuetl("validate", file).exit_code == 0
    missing = gpuetl("run", file)
    assert missing.exit_code == 2
    assert "Give it with -p least=VALUE." in missing.stderr


def test_plan_shows_pruning_and_expectations_without_running(file: Path):
    file.write_text(PIPELINE.replace("default: 1", "default: 2"))
    result = gpuetl("plan", file)
    assert result.exit_code == 0
    assert "Filter pushed to row groups: x >= 2; residual: none; all re-applied" in result.stdout
    assert "Read rows: 1 of 1 columns, 1 of 2 row groups" in result.stdout
    assert "sorts: 0; exchanges: none; reads " in result.stdout
    assert not (file.parent / "out.parquet").exists()


def test_plan_says_what_is_expected_of_memory_and_what_is_cut_because_of_it(file: Path):
    """Of an engine that cannot run here, too, where the memory is given."""
    fits = gpuetl("plan", file, "--engine", "cudf", "--memory", "140GB")
    assert fits.stdout.splitlines()[-1].startswith("expected memory: ")
    assert " of 140.0 GB, " in fits.stdout.splitlines()[-1]
    cut = gpuetl("plan", file, "--engine", "cudf", "--memory", "100B").stdout
    assert "rows: 16 B in memory, 2 partitions of up to 1 rows, since " not in cut
    assert "may not fit, even in its smallest partitions: " in cut
    assert " of 140.0 GB" not in cut
    unknown = gpuetl("plan", file, "--engine", "cuda", "--memory", "1GB")
    assert (unknown.exit_code, "Did you mean 'cudf'?" in unknown.stderr) == (2, True)


def test_plan_for_an_engine_that_cannot_run_here_says_how_to_have_it(file: Path, monkeypatch):
    """For another machine, that is; a name that is no engine has another mend."""
    monkeypatch.setattr("gpuetl.engines.registry.find_spec", lambda name: None)
    for engine, expected in {"dask-cuda": True, "cuda": False}.items():
        planned = gpuetl("plan", file, "--engine", engine)
        assert planned.exit_code == 2
        assert ("For the plan of another machine say what it has: --memory 80GB" in planned.stderr) == expected


def test_a_run_says_what_was_cut_to_fit_memory(file: Path):
    """And writes the same; the plan and the report name one number."""
    many = pa.table({"x": pa.array(range(3_000_000), pa.int64())})
    pq.write_table(many, file.parent / "rows.parquet", row_group_size=100_000)
    file.write_text(PIPELINE.replace("parquet: out.parquet", "parquet: out"))
    result = gpuetl("run", file, "--memory", "60MB", "--report", file.parent / "r.json")
    assert result.exit_code == 0, result.output
    expected = json.loads((file.parent / "r.json").read_text())["expected_memory"]
    plan = gpuetl("plan", file, "--memory", "60MB").stdout
    assert expected == 54_064_161
    assert "expected memory: 54.1 MB of 60.0 MB, " in plan
    assert "while the next partition is read" in plan
    assert "partition is read" not in gpuetl("plan", file, "--memory", "60MB", "--engine", "dask").stdout  # nor ahead
    note = "note: rows: 24.0 MB in memory, 10 partitions of up to 300,000 rows, since "
    assert note in " ".join(result.stdout.split())
    assert pq.read_table(file.parent / "out").num_rows == 2_999_999


def test_plan_stops_before_a_pass(file: Path):
    result = gpuetl("plan", file, "--rung", "push_filters")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == [
        "  Project y = x * 2, 1 columns kept",
        "    Filter x >= 1",
        "      Read rows: 1 of 1 columns",
    ]


def test_missing_file_is_one_message():
    result = gpuetl("run", "nowhere.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith("cannot read nowhere.yaml: No such file or directory")


def test_the_package_is_the_command_too():
    """Where the command is not on the path."""
    done = subprocess.run([sys.executable, "-m", "gpuetl", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == gpuetl("--version").stdout


def needless(modules: list[str], *packages: str) -> list[str]:
    """Return the modules that belong to one of the packages."""
    return [module for module in modules if any(f"{module}.".startswith(f"{package}.") for package in packages)]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_no_engine_and_no_parser(option: str):
    modules = in_new_process(option)
    assert not needless(modules, "pyarrow", "numpy", "pandas", "sqlglot", "ruamel", "rich", "gpuetl.pipeline")


def test_validate_imports_nothing_of_a_run(file: Path):
    tests = "tests: [{name: a, given: {rows: [{x: 1}]}, expect: {kept: [{x: 1, y: 2}]}}]\n"
    file.write_text(PIPELINE + tests)
    modules = in_new_process("validate", file)
    assert not needless(modules, "pandas", "pyarrow.compute", "pyarrow.dataset", "pyarrow.acero", "pyarrow.csv", "rich")
    assert not needless(
        modules,
        "gpuetl.engines",
        "gpuetl.executors",
        "gpuetl.optimize",
        "gpuetl.physical",
        "gpuetl.report",
        "gpuetl.run.pipeline_run",
    )


def test_validate_imports_the_readers_of_patterns_where_there_is_a_pattern(file: Path):
    assert not needless(in_new_process("validate", file), "gpuetl.expressions.regex")
    file.write_text(PIPELINE.replace("x * 2", "\"regexp_like(CAST(x AS string), '[0-9]+')\""))
    assert needless(in_new_process("validate", file), "gpuetl.expressions.regex")


def test_plan_imports_no_pandas_for_the_statistics_of_instants(file: Path):
    instants = pa.array([0, 1, 2, None], pa.timestamp("us", "Europe/Berlin"))
    pq.write_table(pa.table({"x": instants}), file.parent / "rows.parquet", row_group_size=2)
    file.write_text(PIPELINE.replace("x >= $least", "x IS NOT NULL").replace("x * 2", "$least"))
    assert not needless(in_new_process("plan", file), "pandas", "rich", "gpuetl.engines.pandas")


@pytest.mark.part(6)
@pytest.mark.parametrize("command", ["--help", "validate", "plan", "run"])
def test_no_command_imports_a_library_that_checks_types_while_it_reads_arguments(command: str, file: Path):
    arguments = [command] if command == "--help" else [command, file]
    assert not needless(in_new_process(*arguments), "typer", "click", "pydantic")


@pytest.mark.parametrize("arguments", [(), ("rnu",), ("run",), ("run", "p.yaml", "--partition-rows", "many")])
def test_a_command_line_that_is_none_exits_2_and_shows_how_it_is_used(arguments: tuple[str, ...]):
    refused = gpuetl(*arguments)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("usage: gpuetl")


def test_help_shows_every_command_and_what_it_takes():
    assert all(f"\n    {name} " in gpuetl("--help").stdout for name in ("run", "validate", "plan"))
    assert "-p NAME=VALUE" in gpuetl("run", "--help").stdout
    assert gpuetl("help", "run").stdout == gpuetl("run", "--help").stdout


HELLO = Path(__file__).parents[2] / "pipelines" / "hello.yaml"
NEVER = (
    "cupy", "cupyx", "pylibcudf", "rmm", "cudf", "dask", "distributed", "polars", "duckdb", "pyarrow.dataset",
    "pyarrow.acero", "gpuetl.engines.cudf.runtime", "gpuetl.engines.cudf.cudf_engine", "gpuetl.doctor", "gpuetl.error_codes",
    "gpuetl.executors.dask", "gpuetl.file_tests.run_tests", "gpuetl.kernels.check", "gpuetl.testing",
    "gpuetl.verify", "gpuetl.cli.bench", "gpuetl.cli.verify", "rich", "sqlglot.executor", "asyncio", "http", "unittest",
    "sqlglot.planner", "sqlglot.lineage", "sqlglot.optimizer.optimizer", "opentelemetry", "openlineage",
    "prometheus_client", "gpuetl.plan.column_lineage",
)  # fmt: skip
"""What no run on pandas needs whose output is no terminal, and so neither what comes before one."""
NOT_TO_PLAN = (
    "pandas",
    "pyarrow.compute",
    "pyarrow.csv",
    "rich",
    "gpuetl.engines.pandas",
    "gpuetl.executors",
    "gpuetl.run.pipeline_run",
)
NOT_TO_VALIDATE = (
    *NOT_TO_PLAN,
    "gpuetl.engines",
    "gpuetl.io.commit",
    "gpuetl.places.local.commit",
    "gpuetl.optimize",
    "gpuetl.physical",
    "gpuetl.report",
)


@pytest.mark.part(4)
@pytest.mark.parametrize(("command", "excluded"), [("validate", NOT_TO_VALIDATE), ("plan", NOT_TO_PLAN), ("run", ())])
def test_hello_imports_nothing_that_it_does_not_use(command: str, excluded: tuple[str, ...]):
    engine = () if command == "validate" else ("--engine", "pandas")
    options = ("--no-write",) if command == "run" else ()
    modules = in_new_process(command, HELLO, *engine, *options)
    assert f"gpuetl.cli.{command}" in modules
    assert not needless(modules, *NEVER, *excluded)


def test_the_gpu_engine_imports_nothing_that_hello_does_not_use():
    """But for its own libraries, which import NumPy, Arrow and the readers of mail by themselves."""
    code = f"""
import sys
import gpuetl.cli.ending, gpuetl.cli.run, gpuetl.cli.render, gpuetl.run.pipeline_run, gpuetl.engines.cudf.cudf_engine
from gpuetl.cli.render import Screen
from gpuetl.pipeline import load
load({str(HELLO)!r}).plan({{}})
print(*sys.modules)
"""
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    own = ("gpuetl.engines.cudf.cudf_engine", "gpuetl.engines.cudf.runtime")  # CuPy is named by itself
    never = [package for package in NEVER if package not in own]
    assert not needless(modules, *never, "pandas", "pyarrow.compute", "gpuetl.engines.pandas")


def test_run_imports_neither_cudf_nor_dask(file: Path):
    assert not {"cudf", "dask", "cupy", "distributed"} & set(in_new_process("run", "-q", file))


def test_a_pipeline_without_sinks_shows_its_last_stages(file: Path):
    file.write_text(PIPELINE.partition("sinks:")[0])
    result = gpuetl("run", file)
    assert result.exit_code == 0
    assert "first rows of kept" in result.stdout
    assert "Keep kept" in gpuetl("plan", file).stdout
    assert "Filter x >= 1" in gpuetl("plan", file, "--rung", "end").stdout


def test_validate_checks_sinks_whose_path_is_not_known_yet(file: Path):
    text = PIPELINE.replace("default: 1", "required: true").replace(
        "out.parquet}", '"${params.least}", partition_by: nope}'
    )
    file.write_text(text)
    assert "sink 'out': unknown column 'nope'" in gpuetl("validate", file).stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "soon"])
def test_a_kernel_timeout_is_a_number_of_seconds_above_0(file: Path, seconds: str):
    done = gpuetl("run", file, "--engine", "pandas", f"--kernel-timeout={seconds}")
    assert done.exit_code == 2
    assert f"'{seconds}' is not a number of seconds above 0" in done.stderr
    assert not (file.parent / "out.parquet").exists()


def test_a_kernel_timeout_limits_kernels_alone(file: Path):
    assert gpuetl("run", file, "--engine", "pandas", "--kernel-timeout", "0.5").exit_code == 0
    assert (file.parent / "out.parquet").exists()


def test_a_sandbox_is_a_folder_that_exists(file: Path):
    done = gpuetl("run", file, "--engine", "pandas", "--sandbox", file.parent / "missing")
    assert done.exit_code == 2
    assert f"folder {file.parent / 'missing'} does not exist" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("plan small.yaml --yaml", "unrecognized arguments: --yaml", "What it takes: gpuetl plan --help"),
        ("explain", "the following arguments are required: code", "What it takes: gpuetl explain --help"),
        (
            "explain small.yaml",
            "'small.yaml' is not an error code",
            "This command explains codes of errors.  The plan of a pipeline: gpuetl plan small.yaml",
        ),
        ("explain GE10077", "'GE10077' is not an error code", "Did you mean 'GE1007'?"),
        ("explain nothing", "'nothing' is not an error code", "gpuetl explain all lists the codes."),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_says_what_to_do(arguments, message, hint):
    done = gpuetl(*arguments.split())
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.rstrip().endswith(hint)
