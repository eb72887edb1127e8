"""Damaged files of every format: rows or a clean error, never a crash, a hang or a traceback."""

from collections import Counter
from random import Random

import pytest

from gpuetl import Pipeline
from hostile.mutants import GOOD, Reading, results
from hostile.mutations import mutate
from hostile.seed_files import ROWS, own_files
from hostile.thrift_places import footer_range, pages, values_at, varint, zigzag

SEEDS = own_files()
COUNT = 200


def test_mutants_are_read_or_refused():
    """A few; `python -m hostile.mutants` reads more."""
    found = list(results(range(7_000, 7_000 + COUNT), Reading(), workers=2, seconds=60))
    assert [result for result in found if result.outcome not in GOOD] == []
    assert len(found) == COUNT
    counts = Counter(result.outcome for result in found)
    assert min(counts["same rows"], counts["other rows"], counts["refused"]) > 5


@pytest.mark.parametrize("seed", [s for s in SEEDS if "none-v1" in s.name or "-v" not in s.name], ids=lambda s: s.name)
def test_the_files_that_are_changed_are_read_whole(tmp_path, seed):
    (tmp_path / seed.name).write_bytes(seed.data)
    pipeline = Pipeline("whole", root=tmp_path)
    if seed.format == "csv":
        pipeline.read_csv("s", seed.name, seed.schema)
    else:
        pipeline.read_parquet("s", seed.name, **({"columns": list(seed.columns)} if seed.columns else {}))
    rows = pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow()
    expected = {"no-rows.parquet": 0, "one-row.parquet": 1, "one-column.csv": 4, "mark.csv": 40}
    assert rows.num_rows == expected.get(seed.name, 60 if seed.format == "csv" else ROWS)


@pytest.mark.parametrize("seed", [s for s in SEEDS if s.format == "parquet"], ids=lambda s: s.name)
def test_the_places_of_metadata_and_pages_are_found(seed):
    start, stop = footer_range(seed.data)
    values, end = values_at(seed.data, start)
    assert end == stop
    assert [value.number for value in values if value.fields == (1,) and value.kind == "integer"] == [2]  # the version
    between = [*pages(seed.data)]
    assert all(one.start < one.data <= one.stop <= start for one in between)
    assert len(between) >= (5 if "no-rows" not in seed.name else 0)


def test_integers_are_written_as_thrift_does():
    assert [zigzag(n) for n in (0, -1, 1, -2, 63, 64)] == [b"\x00", b"\x01", b"\x02", b"\x03", b"\x7e", b"\x80\x01"]
    assert zigzag(2**63 - 1) == varint(2**64 - 2)
    assert zigzag(-(2**63)) == varint(2**64 - 1)


def test_a_number_stands_for_one_mutant():
    first, again, other = (mutate(Random(number), SEEDS) for number in (11, 11, 12))
    assert first == again
    assert first != other
