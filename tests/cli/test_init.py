"""`gpuetl init`: the project that it writes runs, passes its tests, and is valid in editors."""

import json
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

import gpuetl as ge
from command import gpuetl
from servers.language_server import language_server


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPUETL_PROFILE", raising=False)
    return tmp_path


def sound(project):
    """Run all that a user would run first."""
    file = project / "pipeline.yaml"
    for command in (
        ["validate"],
        ["test", "--engine", "pandas"],
        ["run", "--engine", "pandas"],
        ["test", "--profile", "dev"],
    ):
        done = gpuetl(*command, file)
        assert done.exit_code == 0, done.output
    schema = json.loads((project / "pipeline.schema.json").read_text())
    data = YAML(typ="safe", pure=True).load(file.read_text())
    assert list(jsonschema.Draft7Validator(schema).iter_errors(data)) == []
    return ge.load(file)


def test_a_project_has_data_of_its_own(folder):
    done = gpuetl("init", "shop")
    assert done.stdout == (
        "shop/pipeline.yaml\nshop/data/sales.csv\nshop/.gitignore\nshop/.github/workflows/pipeline.yml\n"
        "shop/pipeline.schema.json\n\n    cd shop && gpuetl test pipeline.yaml\n    cd shop && gpuetl run pipeline.yaml\n"
    )
    sound(folder / "shop")
    rows = pq.read_table("shop/out/revenue.parquet").to_pylist()
    assert rows[0] == {"day": date(2026, 11, 1), "store": "Berlin", "revenue": Decimal("8.80"), "sales": 2}
    ci = YAML(typ="safe").load((folder / "shop/.github/workflows/pipeline.yml").read_text())
    assert [step["run"] for step in ci["jobs"]["test"]["steps"] if "run" in step] == [
        f'pip install "gpuetl=={ge.__version__}"',
        "gpuetl validate pipeline.yaml --no-files",
        "gpuetl test pipeline.yaml --engine pandas",
    ]
    assert "out/\n" in (folder / "shop/.gitignore").read_text()


def test_a_project_is_made_in_the_working_folder(folder, monkeypatch):
    (folder / "My project").mkdir()
    monkeypatch.chdir(folder / "My project")
    assert gpuetl("init").exit_code == 0
    assert sound(folder / "My project").spec.name == "My_project"


def test_a_column_that_is_nearly_of_a_type_is_named(folder):
    (folder / "a.csv").write_text("id;price\n1;2,50\n2;3,75\n")
    done = gpuetl("init", "shop", "--from", "a.csv")
    hint = (
        "a.csv: column 'price' is a string: its values look like '2,50'.  To read it as float64, write price: float64"
    )
    assert f'hint: {hint} in the schema, and next to it decimal: ","\n' in done.stdout
    assert "# hint: ../a.csv: column 'price' is a string:" in (folder / "shop/pipeline.yaml").read_text()
    sound(folder / "shop")


def test_the_test_of_a_project_is_about_a_column_that_keeps_its_type(folder):
    """So that the project is sound, too, when its reader has done what the hints say."""
    (folder / "a.csv").write_text("day;name;price\n31.12.2026;x;2,50\n30.12.2026;y;3,75\n")
    assert gpuetl("init", "shop", "--from", "a.csv").exit_code == 0
    file = folder / "shop/pipeline.yaml"
    text = file.read_text().replace("day: string", "day: date").replace("price: string", "price: float64")
    options = 'delimiter: ;\n    decimal: ","\n    date_format: {day: "%d.%m.%Y"}'
    file.write_text(text.replace("delimiter: ;", options))
    assert {name: str(dtype) for name, dtype in sound(folder / "shop").spec.sources["a"].schema.items()} == {
        "day": "date32[day]", "name": "string", "price": "double",
    }  # fmt: skip


def test_a_path_that_does_not_exist_begins_at_this_folder(folder):
    done = gpuetl("init", "shop", "--from", "trips.csv")
    assert done.exit_code == 2
    assert done.stderr.endswith("Check the path; relative ones start at this folder.\n")


def test_sources_have_the_columns_of_files(folder):
    (folder / "data").mkdir()
    (folder / "data/orders.csv").write_text('"order id";amount;day\n1;2,5;2026-11-01\n;1,0;\n')
    types = {"s": pa.struct([("a", pa.int64())]), "when": pa.timestamp("us"), "x": pa.decimal128(5, 2)}
    pq.write_table(
        pa.table({"s": [{"a": 1}], "when": [datetime(2026, 1, 1)], "x": [Decimal("1.00")]}, pa.schema(types)),
        "data/more.parquet",
    )
    assert gpuetl("init", "shop", "--from", "data/orders.csv", "data/more.parquet").exit_code == 0
    pipeline = sound(folder / "shop")
    orders = pipeline.spec.sources["orders"]
    assert (str(orders.path), orders.options.delimiter, list(orders.schema)) == (
        "../data/orders.csv",
        ";",
        ["order id", "amount", "day"],
    )
    assert list(pipeline.spec.stages) == ["orders_clean", "more_clean"]
    assert pq.read_table("shop/out/orders_clean.parquet")["order id"].to_pylist() == [1]
    assert pq.read_table("shop/out/more_clean.parquet").to_pylist() == [
        {"s": {"a": 1}, "when": datetime(2026, 1, 1), "x": Decimal("1.00")}
    ]


@pytest.mark.part(4)
@pytest.mark.parametrize(
    "column",
    [
        pa.array([{"a": 1}]),
        pa.array([[1]]),
        pa.array([b"x"]),
        pa.array([1.5], pa.float32()),
        pa.array([True]),
        pa.array([1], pa.duration("us")),
        pa.array([1], pa.timestamp("us", "UTC")),
        pa.array([1000], pa.timestamp("ns")),
        pa.array([Decimal("0.5")], pa.decimal128(1, 1)),
        pa.array([None], pa.null()),
        pa.array(["NULL"]),
    ],
    ids=lambda column: str(column.type),
)
def test_a_column_of_any_type_will_do(folder, column):
    pq.write_table(pa.table({"select": column}), "x.parquet")
    assert gpuetl("init", "p", "--from", "x.parquet").exit_code == 0
    sound(folder / "p")


def test_files_that_exist_are_not_changed(folder):
    gpuetl("init", "shop")
    before = (folder / "shop/pipeline.yaml").read_text()
    (folder / "shop/data/sales.csv").unlink()
    done = gpuetl("init", "shop")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "shop/pipeline.yaml exists already\nGive another NAME, or remove it.\n"
    assert (folder / "shop/pipeline.yaml").read_text() == before
    assert not (folder / "shop/data/sales.csv").exists()


def test_a_gitignore_that_exists_stays(folder):
    (folder / ".gitignore").write_text("mine\n")
    assert gpuetl("init").exit_code == 0
    assert (folder / ".gitignore").read_text() == "mine\n"


def test_nothing_is_written_for_data_that_cannot_be_read(folder):
    done = gpuetl("init", "shop", "--from", "missing.csv")
    assert done.exit_code == 2
    assert "missing.csv" in done.stderr
    assert not (folder / "shop").exists()


def test_an_editor_has_nothing_to_say_of_a_new_project(folder):
    gpuetl("init", "shop")
    file = folder / "shop/pipeline.yaml"
    with language_server(folder) as server:
        assert server.problems(file, file.read_text()) == []
        wrong = file.read_text().replace("filter:", "fliter:")
        assert [line for line, _ in server.problems(file.with_name("wrong.yaml"), wrong)] == [22]


def test_the_command_works_as_a_process(folder):
    run = [sys.executable, "-m", "gpuetl"]
    subprocess.run([*run, "init", "shop"], check=True, capture_output=True)
    subprocess.run(
        [*run, "test", "pipeline.yaml", "--profile", "dev"], check=True, capture_output=True, cwd=folder / "shop"
    )
