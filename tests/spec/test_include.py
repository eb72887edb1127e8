"""include and defaults: pipelines of several files, and errors at the places where their values stand."""

import pytest

import gpuetl as ge
from command import gpuetl
from gpuetl import InvalidPipeline, in_sandbox

MAIN = """\
gpuetl: 1
name: main
include: shared/sources.yaml
sinks:
  out: {from: clean, csv: out.csv, mode: overwrite}
"""
SHARED = """\
gpuetl: 1
params:
  least: {type: int64, default: 2}
sources:
  sales: {csv: data/sales.csv, schema: {region: string, x: int64}}
stages:
  clean:
    from: sales
    steps:
      - filter: x >= $least
sinks:
  shared_out: {from: clean, csv: shared.csv, mode: overwrite}
tests:
  - {name: t, given: {sales: [{x: 1}]}, expect: {clean: []}}
"""
ROWS = "region,x\nEU,1\nUS,2\nAS,3\n"


@pytest.fixture
def files(tmp_path):
    """Writes files by name; returns the folder."""

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / name.replace("__", "/")
            path = path.with_suffix(".csv" if text.startswith("region") else ".yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    write(main=MAIN, shared__sources=SHARED, shared__data__sales=ROWS)
    return write


def loaded(folder, **options):
    return ge.load(folder / "main.yaml", **options)


def problem(folder):
    with pytest.raises(InvalidPipeline) as caught:
        loaded(folder).plan()
    return str(caught.value).replace(f"{folder}/", "")


def rows(pipeline, stage="clean", **params):
    return pipeline.run(params, engine="pandas", keep=stage)[stage].to_arrow().to_pylist()


def test_a_file_brings_its_parameters_sources_and_stages_and_keeps_sinks_and_tests(files):
    pipeline = loaded(files())
    assert rows(pipeline, least=3) == [{"region": "AS", "x": 3}]
    assert list(pipeline.spec.sinks) == ["out"]
    assert pipeline.spec.tests == ()
    assert (files() / "out.csv").exists()
    assert not (files() / "shared/shared.csv").exists()


def test_paths_begin_at_the_folder_of_the_file_that_has_them(files):
    plan = loaded(files()).plan()
    assert plan.sources["sales"].dataset.path == files() / "shared/data/sales.csv"


def test_includes_are_nested_and_a_file_that_two_include_is_read_once(files):
    folder = files(
        main=MAIN.replace("include: shared/sources.yaml", "include: [a.yaml, b.yaml]"),
        a="gpuetl: 1\ninclude: shared/sources.yaml\nstages:\n  two: {from: clean, steps: [limit: 2]}\n",
        b="gpuetl: 1\ninclude: shared/sources.yaml\nstages:\n  one: {from: clean, steps: [limit: 1]}\n",
    )
    assert list(loaded(folder).spec.stages) == ["clean", "two", "one"]
    assert rows(loaded(folder), "one") == [{"region": "US", "x": 2}]


def test_named_stages_come_with_what_they_read(files):
    other = "  other: {from: nothing, steps: [filter: x > $wrong]}\n"
    unread = "  unread: {csv: no.csv, schema: {x: int64}}\nstages:\n"
    text = SHARED.replace("stages:\n", unread + other).replace(
        "params:\n", "params:\n  p: {type: string, default: a}\n"
    )
    folder = files(
        shared__sources=text,
        main=MAIN.replace("include: shared/sources.yaml", "include: [{file: shared/sources.yaml, stages: [clean]}]"),
    )
    spec = loaded(folder).spec
    assert (list(spec.parameters), list(spec.sources), list(spec.stages)) == (["least"], ["sales"], ["clean"])
    assert rows(loaded(folder)) == [{"region": "US", "x": 2}, {"region": "AS", "x": 3}]


def test_there_is_no_warning_of_what_a_shared_file_has_and_a_pipeline_does_not_use(files):
    text = SHARED.replace("sources:\n", "sources:\n  more: {csv: data/sales.csv, schema: {x: int64}}\n")
    assert loaded(files(shared__sources=text)).plan().unused == ()


def test_an_error_points_into_the_file_that_has_it(files):
    assert problem(files(shared__sources=SHARED.replace("x >= $least", "y >= $least"))) == (
        "shared/sources.yaml:10:17: stage 'clean', step 1: unknown column 'y'\n"
        "    - filter: y >= $least\n"
        "              ^\n"
        "Columns: region, x."
    )


def test_errors_are_in_the_order_of_the_files(files):
    text = SHARED.replace("x >= $least", "y >= $least").replace("data/sales.csv, ", "data/sales.csv, delimeter: ';', ")
    found = problem(files(shared__sources=text, main=MAIN.replace("mode: overwrite", "mode: overwrit")))
    places = [line.split(": ")[0] for line in found.split("\n") if line.startswith(("main", "shared"))]
    assert places == ["shared/sources.yaml:5:32", "main.yaml:5:42"]


@pytest.mark.parametrize(
    ("include", "message"),
    [
        (
            "shared/source.yaml",
            "main.yaml:3:10: include: cannot read FOLDER/shared/source.yaml: No such file or directory\n"
            "    include: shared/source.yaml\n"
            "             ^^^^^^^^^^^^^^^^^^\n"
            "Check the path: it begins at this file's folder.",
        ),
        (
            "[{file: shared/sources.yaml, stages: [claen]}]",
            "main.yaml:3:48: shared/sources.yaml has no stage 'claen'\n"
            "    include: [{file: shared/sources.yaml, stages: [claen]}]\n"
            "                                                   ^^^^^\n"
            "Stages: clean. Did you mean 'clean'?",
        ),
        (
            "'${env.SHARED}/a.yaml'",
            "main.yaml:3:10: the path '${env.SHARED}/a.yaml' has a reference, which include does not take\n"
            "    include: '${env.SHARED}/a.yaml'\n"
            "             ^^^^^^^^^^^^^^^^^^^^^^\n"
            "Write the path of one YAML file, relative to this file's folder.",
        ),
        (
            "[{file: shared/sources.yaml, stage: [clean]}]",
            "main.yaml:3:39: include: unknown key 'stage'\n"
            "    include: [{file: shared/sources.yaml, stage: [clean]}]\n"
            "                                          ^^^^^\n"
            "Keys: file, stages. Did you mean 'stages'?",
        ),
    ],
)
def test_a_wrong_include_is_one_error_at_its_place(files, include, message):
    folder = files(main=MAIN.replace("shared/sources.yaml", include))
    with pytest.raises(InvalidPipeline) as caught:
        loaded(folder).plan()
    found = str(caught.value).replace(f"{folder}/main", "main").replace(str(folder), "FOLDER")
    assert (
        "\n".join(
            line.removeprefix("    ").join(["    ", ""]) if line.startswith("    ") else line
            for line in found.split("\n")
        )
        == message
    )


def test_a_circle_of_files_is_an_error(files):
    found = problem(files(shared__sources=SHARED.replace("params:", "include: ../main.yaml\nparams:")))
    assert found.startswith(
        "shared/sources.yaml:2:10: the files include each other: main.yaml → sources.yaml → main.yaml"
    )


def test_a_name_in_two_files_is_an_error_at_the_second(files):
    text = MAIN.replace("sinks:", "stages:\n  clean: {from: sales, steps: [limit: 1]}\nsinks:")
    assert problem(files(main=text)) == (
        "main.yaml:5:3: 'clean' is declared in shared/sources.yaml, too\n"
        "    clean: {from: sales, steps: [limit: 1]}\n"
        "    ^^^^^\n"
        "The first is on line 7 there. Rename one, or include it once."
    ).replace("shared/", f"{files()}/shared/".replace(f"{files()}/", ""))


def test_a_file_of_another_version_is_an_error_there(files):
    with pytest.raises(InvalidPipeline, match=r"shared/sources.yaml:1:9: version 2 of the language is not supported"):
        loaded(files(shared__sources=SHARED.replace("gpuetl: 1", "gpuetl: 2"))).plan()


def test_a_sandbox_holds_for_included_files(files, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "a.yaml"
    outside.write_text(SHARED)
    folder = files(main=MAIN.replace("shared/sources.yaml", str(outside)))
    with in_sandbox(folder), pytest.raises(InvalidPipeline, match="is outside of the sandbox"):
        loaded(folder).plan()


def test_text_may_include_files_below_its_root(files):
    assert rows(ge.loads(MAIN, files())) == [{"region": "US", "x": 2}, {"region": "AS", "x": 3}]


def test_a_pipeline_of_several_files_is_written_as_one(files):
    pipeline = loaded(files())
    again = ge.loads(pipeline.to_yaml(), files())
    assert "csv: shared/data/sales.csv" in pipeline.to_yaml()
    assert rows(again) == rows(pipeline)


def test_a_kernel_of_an_included_file_is_next_to_it(files):
    step = "kernel: {body: y = x + 1;, inputs: x, outputs: {y: int64}, reference: twin.py:plus}"
    folder = files(shared__sources=SHARED.replace("filter: x >= $least", step))
    (folder / "shared/twin.py").write_text("def plus(x):\n    return {'y': x + 1}\n")
    pipeline = loaded(folder)
    assert [row["y"] for row in rows(pipeline)] == [2, 3, 4]
    assert [row["y"] for row in rows(ge.loads(pipeline.to_yaml(), folder))] == [2, 3, 4]


def test_files_are_changed_and_read_again(files):
    first = rows(loaded(files()))
    second = rows(loaded(files(shared__sources=SHARED.replace("default: 2", "default: 3"))))
    assert (len(first), len(second)) == (2, 1)


# defaults

DEFAULTS = """\
gpuetl: 1
name: d
defaults:
  sources: {nulls: ["", NA], missing_columns: null, row_groups: 3}
  sinks: {mode: overwrite, row_group_rows: 100}
  expect: {on_fail: warn}
sources:
  sales: {csv: shared/data/sales.csv, schema: {region: string, x: int64}}
  own:   {csv: shared/data/sales.csv, nulls: [EU], schema: {region: string, x: int64}}
stages:
  clean:
    from: sales
    steps: [limit: 3]
    expect:
      - in: {region: [EU]}
      - {range: {x: [0, null]}, on_fail: fail}
sinks:
  out: {from: clean, csv: out.csv}
  big: {from: clean, parquet: big.parquet}
  new: {from: own, csv: new.csv, mode: error}
""".replace(", row_groups: 3", "")


def test_defaults_are_for_entries_that_do_not_have_the_key(files):
    spec = ge.loads(DEFAULTS, files()).spec
    assert spec.sources["sales"].options.nulls.default == ("", "NA")
    assert spec.sources["own"].options.nulls.default == ("EU",)
    assert [sink.mode for sink in spec.sinks.values()] == ["overwrite", "overwrite", "error"]
    assert spec.sinks["big"].options.row_group_rows == 100
    assert [rule.on_fail for rule in spec.stages["clean"].expect] == ["warn", "fail"]


def test_defaults_of_a_file_are_not_those_of_another(files):
    folder = files(main=MAIN.replace("include:", "defaults: {sources: {nulls: [EU]}}\ninclude:"))
    assert loaded(folder).spec.sources["sales"].options.nulls.default != ("EU",)


def test_an_unknown_default_and_a_wrong_one_are_errors_where_they_stand(files):
    with pytest.raises(InvalidPipeline) as caught:
        ge.loads(
            DEFAULTS.replace("mode: overwrite,", "mod: overwrite,").replace("on_fail: warn", "on_fail: wran"), files()
        ).plan()
    found = str(caught.value)
    assert "pipeline.yaml:5:11: defaults, sinks: unknown key 'mod'" in found
    assert (
        "pipeline.yaml:6:21: stage 'clean', expect: on_fail: takes one of fail, warn, drop, quarantine, got 'wran'"
        in found
    )


def test_commands_read_included_files(files):
    done = gpuetl("validate", files() / "main.yaml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("main.yaml: valid, 1 source, 1 stage, 1 sink\n")
