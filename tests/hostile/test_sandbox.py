"""A pipeline file of others, run with --sandbox, and values of the environment in what people read."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, RunFailed, in_sandbox, load, messages

PIPELINE = """\
gpuetl: 1
name: p
sources: {{t: {{parquet: "{source}"}}}}
stages: {{s: {{from: t, steps: [{step}]}}}}
sinks: {{o: {{from: s, parquet: "{sink}", mode: overwrite}}}}
"""
KERNEL = "kernel: {body: y = x;, inputs: x, outputs: {y: int64}, reference: 'k.py:k'}"


@pytest.fixture
def box(tmp_path, monkeypatch):
    """A folder with a source inside of a sandbox, and one outside."""
    monkeypatch.setattr(messages, "_references", {})
    inside = tmp_path / "box"
    (inside / "in").mkdir(parents=True)
    for path in (inside / "in/t.parquet", tmp_path / "secret.parquet"):
        pq.write_table(pa.table({"x": [1, 2]}), path)
    (inside / "k.py").write_text("raise SystemExit(7)\ndef k(x): ...\n")
    return inside


def written(box, source="in/t.parquet", sink="out.parquet", step="filter: x > 0"):
    (box / "p.yaml").write_text(PIPELINE.format(source=source, sink=sink, step=step))
    return box / "p.yaml"


def problems(file, box):
    with pytest.raises(InvalidPipeline) as caught, in_sandbox(box):
        load(file).run(engine="pandas")
    return [problem.message for problem in caught.value.problems]


def test_a_pipeline_inside_runs(box):
    with in_sandbox(box):
        load(written(box)).run(engine="pandas")
    assert pq.read_table(box / "out.parquet").column("x").to_pylist() == [1, 2]


@pytest.mark.parametrize("path", ["../secret.parquet", "/etc/passwd.parquet", "in/../../secret.parquet"])
def test_a_source_outside_is_refused(box, path):
    whole = box / path
    assert problems(written(box, path), box) == [
        f"{whole} is outside of the sandbox {box} (it leads to {whole.resolve()})"
    ] or (problems(written(box, path), box) == [f"{whole} is outside of the sandbox {box}"])


def test_a_sink_outside_is_refused_before_anything_is_made(box):
    (found,) = problems(written(box, sink="../out/o.parquet"), box)
    assert "is outside of the sandbox" in found
    assert not (box.parent / "out").exists()


@pytest.mark.parametrize("source", ["in/link.parquet", "in/*.parquet", "in", "away/secret.parquet"])
def test_a_link_that_leads_out_is_refused(box, source):
    (box / "in/link.parquet").symlink_to(box.parent / "secret.parquet")
    (box / "away").symlink_to(box.parent)
    (found,) = problems(written(box, source), box)
    assert f"is outside of the sandbox {box} (it leads to {box.parent}/secret.parquet)" in found


def test_a_sink_below_a_link_that_leads_out_is_refused(box):
    (box / "away").symlink_to(box.parent)
    (found,) = problems(written(box, sink="away/o.parquet"), box)
    assert f"(it leads to {box.parent}/o.parquet)" in found


def test_a_kernel_step_is_refused_and_its_twin_is_not_run(box):
    found = problems(written(box, step=KERNEL), box)
    assert found == ["a kernel step runs code of the file's author, which a sandbox does not allow"]


def test_an_environment_variable_is_refused(box, monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cr3t-value")
    found = problems(written(box, sink="${env.TOKEN}/o.parquet"), box)
    assert found == ["'${env.TOKEN}/o.parquet' reads an environment variable, which a sandbox does not allow"]


@pytest.mark.parametrize("command", ["run", "validate", "plan", "verify", "test"])
def test_every_command_takes_a_sandbox(box, command):
    done = gpuetl(command, str(written(box, "../secret.parquet")), "--sandbox", str(box))
    assert done.exit_code == 2
    assert "is outside of the sandbox" in done.stderr


def test_values_of_the_environment_do_not_show(box, monkeypatch):
    monkeypatch.setenv("LAKE", str(box / "in"))
    monkeypatch.setenv("S", "ab")
    file = written(box, "${env.LAKE}/t.parquet", "${env.S}/o.parquet")
    done = gpuetl("run", file, "--engine", "pandas", "--report", box / "r.json")
    assert (done.exit_code, (box / "ab/o.parquet").exists()) == (0, True)
    page = (box / "r.json").read_text()
    assert json.loads(page)["sinks"][0]["path"].endswith("${env.S}/o.parquet")
    for text in (done.output, page):
        assert str(box / "in") not in text
        assert str(box / "ab") not in text
    assert str(box / "in") not in gpuetl("plan", file).output


def test_values_of_the_environment_do_not_show_in_errors(box, monkeypatch):
    monkeypatch.setenv("LAKE", str(box / "s3cr3t"))
    done = gpuetl("run", written(box, "${env.LAKE}/t.parquet"), "--engine", "pandas")
    assert done.exit_code == 2
    assert "${env.LAKE}/t.parquet does not exist" in done.stderr
    assert "s3cr3t" not in done.output


def test_a_value_that_is_a_default_is_shown(box):
    done = gpuetl("run", str(written(box, "${env.NOT_SET:-lake}/t.parquet")), "--engine", "pandas")
    assert done.exit_code == 2
    assert "lake/t.parquet does not exist" in done.stderr


@pytest.mark.parametrize(
    "reference", ["${env.KEY}", "${ env.KEY}", "${\\tenv.KEY }", "${\\u00a0env.KEY}", "${\\nenv.KEY}"]
)
def test_white_space_does_not_hide_an_environment_variable(box, monkeypatch, reference):
    monkeypatch.setenv("KEY", "in")
    (message,) = problems(written(box, source=f"{reference}/t.parquet"), box)
    assert message.endswith("reads an environment variable, which a sandbox does not allow")


@pytest.mark.parametrize("mode", ["append", "replace_partitions"])
def test_a_link_in_a_sink_s_folder_does_not_lead_out(box, mode):
    """Neither as the folder of a partition nor as that of the lists of files."""
    inside, outside = box / "in", box / "elsewhere"
    outside.mkdir()
    file = inside / "p.yaml"
    sink = f"{{from: s, parquet: out, mode: {mode}, partition_by: [k], keep_foreign: {str(mode != 'append').lower()}}}"
    file.write_text(
        f"gpuetl: 1\nname: p\nsources: {{t: {{parquet: t.parquet}}}}\n"
        f"stages: {{s: {{from: t, steps: [{{with_columns: {{k: 1}}}}]}}}}\nsinks: {{out: {sink}}}\n"
    )
    for link in ("k=1", ".gpuetl"):
        (inside / "out").mkdir(exist_ok=True)
        (inside / "out" / link).symlink_to(outside)
        with in_sandbox(inside), pytest.raises(RunFailed, match="is outside of the sandbox"):
            load(file).run(engine="pandas")
        assert not [*outside.iterdir()]
        assert [path.name for path in (inside / "out").iterdir()] == [link]
        assert not [*inside.glob(".out.*")]
        (inside / "out" / link).unlink()


def test_a_long_value_does_not_show_where_a_text_is_cut(box, monkeypatch):
    monkeypatch.setenv("KEY", "L0NG" * 60)
    monkeypatch.setenv("TABS", "tab\tS3CRETTOKEN\tx")
    for name in ("KEY", "TABS"):
        (message,) = (str(p) for p in shown_problems(written(box, source=f"${{env.{name}}}/t.parquet")))
        assert "L0NG" not in message
        assert "S3CRET" not in message
        assert f"${{env.{name}}}/t.parquet does not exist" in message


def shown_problems(file):
    with pytest.raises(InvalidPipeline) as error:
        load(file).plan()
    return error.value.problems
