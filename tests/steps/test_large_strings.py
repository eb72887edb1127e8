"""Strings that are too long are refused before they are made, on every engine; here a string has at most 1,000 bytes."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from gpuetl import RunFailed, expr
from gpuetl.engines import no_result
from gpuetl.engines.pandas.expressions import text_sizes
from tables import table

ROWS = table({"s": "string"}, ("é",), (None,), ("abcdefghij" * 40,), ("x",))
LONG = "abcdefghij" * 20 + "…"


@pytest.fixture(autouse=True)
def few_bytes(monkeypatch):
    monkeypatch.setattr(no_result, "MOST_BYTES", 1_000)
    monkeypatch.setattr(text_sizes, "SMALL_BYTES", 100)


CASES = {
    "s || s || s": 1_200, "concat_ws('--', s, 'x', s, s)": 1_207, "repeat(s, 3)": 1_200, "replace(s, 'a', '12345')": None,
    "replace(s, 'a', '12345678901234567')": 1_040, "lpad(s, 1001)": 1_001, "rpad(s, 1001)": 1_001,
}  # fmt: skip


@pytest.mark.parametrize(("text", "size"), CASES.items())
def test_a_string_that_is_too_long_is_reported_with_its_size(engine, pipeline, text, size):
    if engine == "dask-cuda":
        pytest.skip("its workers are other processes, which have the limit of 2 GB")
    pipeline.from_frame("t", ROWS).filter(expr("s IS NOT NULL AND s <> 'é' AND s <> 'x'")).select(z=expr(text)).stage(
        "z"
    )
    if size is None:
        assert pc.binary_length(pipeline.run(engine=engine)["z"].to_arrow()["z"]).to_pylist() == [560]
        return
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine=engine)
    first, *rest = caught.value.problem.message, caught.value.problem.row
    assert first.startswith("column 'z': ")
    assert first.endswith(f": the string would have {size:,} bytes, and a string has 1,000 at most")
    assert LONG in first
    assert rest == [f"Row 3 of the frame 't': s = '{LONG}'"]


@pytest.mark.parametrize("text", ["regexp_replace(s, '[a-j]', 'xyz')", "regexp_replace(s, '.+', '\\0\\0\\0')"])
def test_replacements_of_matches_are_bounded(local_engine, pipeline, text):
    pipeline.from_frame("t", ROWS).select(z=expr(text)).stage("z")
    with pytest.raises(RunFailed, match="the string would have 1,200 bytes"):
        pipeline.run(engine=local_engine)


def test_what_several_rows_have_together_is_refused_where_a_column_cannot_hold_it(pipeline):
    pipeline.from_frame("t", pa.table({"s": ["abc"] * 300})).select(z=expr("repeat(s, 2)")).stage("z")
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine="pandas")
    assert caught.value.problem.message == "column 'z': repeat(s, 2) makes 1,800 bytes of strings in one partition"
    assert caught.value.problem.hint == (
        "A column holds 1,000 of them.  Run with fewer rows a partition: --partition-rows."
    )


def test_strings_for_which_the_host_has_no_memory_are_not_made(pipeline, monkeypatch):
    monkeypatch.setattr(text_sizes, "host_memory", lambda: text_sizes_memory(available=500))
    pipeline.from_frame("t", pa.table({"s": ["abc"] * 100})).select(z=expr("repeat(s, 2)")).stage("z")
    with pytest.raises(RunFailed, match="out of memory: 600 B were asked for"):
        pipeline.run(engine="pandas")


def text_sizes_memory(available):
    from gpuetl.memory_limits import HostMemory

    return HostMemory(available, 1 << 34)
