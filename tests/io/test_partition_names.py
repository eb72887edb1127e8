"""Partition values that no folder can be named after are refused, with the sink, the column and the value."""

from datetime import date, datetime

import pyarrow as pa
import pytest

from gpuetl import Pipeline, RunFailed
from gpuetl.errors import GpuetlError
from messages import without_place
from tables import table, write_source

FAR_DATES = (-800_000, 2_932_897)
"""Days of the years -221 and 10000, from 1970-01-01."""
LONG_MESSAGE = (
    "sink 'out': column 'k' has the value '{value}' of {characters} characters.  Its folder's name would have {length} bytes, "
    "and the file system allows 255.  Partition by another column, or by a shorter form, such as left(k, 20)"
)


def refused(t, tmp_path, engine, *columns):
    t.write_parquet("out", "out", partition_by=columns)
    with pytest.raises(RunFailed) as caught:
        t.pipeline.run(engine=engine, keep=[])
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    return without_place(str(caught.value))


@pytest.mark.parametrize(("letter", "count", "length"), [("x", 254, 256), ("ü", 50, 302), ("/", 100, 302)])
def test_a_value_that_makes_too_long_a_name(source, tmp_path, engine, letter, count, length):
    t = source(table({"k": "string", "x": "int64"}, ("a", 0), (letter * count, 1)))
    message = LONG_MESSAGE.format(value=letter * 30 + "…", characters=count, length=length)
    assert refused(t, tmp_path, engine, "k") == message


def test_a_name_of_255_bytes_is_written(source, pipeline, tmp_path, engine):
    source(table({"k": "string", "x": "int64"}, ("x" * 253, 1))).write_parquet("out", "out", partition_by="k")
    pipeline.run(engine=engine, keep=[])
    assert [path.name for path in (tmp_path / "out").glob("[!.]*")] == ["k=" + "x" * 253]


@pytest.mark.parametrize(
    ("dtype", "factor", "shown"),
    [
        (pa.date32(), 1, ("-0221-09-04", "10000-01-01")),
        (pa.timestamp("us"), 86_400_000_000, ("-0221-09-04", "10000-01-01")),
        (pa.timestamp("us", "UTC"), 86_400_000_000, ("-0221-09-04", "10000-01-01")),
    ],
    ids=str,
)
@pytest.mark.parametrize("which", [0, 1])
def test_a_date_outside_of_years_1_to_9999(source, tmp_path, engine, dtype, factor, shown, which):
    number = pa.int32() if dtype == pa.date32() else pa.int64()
    days = pa.array([0, FAR_DATES[which] * factor], number).cast(dtype)
    t = source(pa.table({"d": days, "x": [1, 2]}))
    assert refused(t, tmp_path, engine, "d") == (
        f"sink 'out': column 'd' has the value {shown[which]}, and partitions take years from 1 to 9999.  Filter such rows out, "
        "or partition by a number, such as year(d)"
    )


def test_the_first_and_last_dates_are_written_and_read(source, pipeline, tmp_path, engine):
    source(table({"d": "date", "x": "int64"}, (date.min, 1), (date.max, 2))).write_parquet(
        "out", "out", partition_by="d"
    )
    pipeline.run(engine=engine, keep=[])
    back = Pipeline("back", root=tmp_path)
    back.read_parquet("out", "out", partitions={"d": "date"}).stage("rows")
    rows = back.run(engine=engine, keep=["rows"])["rows"].to_arrow().to_pylist()
    assert sorted(rows, key=lambda row: row["x"]) == [{"x": 1, "d": date.min}, {"x": 2, "d": date.max}]


def test_a_folder_of_the_year_0_is_refused_by_name(pipeline, tmp_path):
    (tmp_path / "in/d=0000-12-31").mkdir(parents=True)
    source = Pipeline("other", root=tmp_path / "in/d=0000-12-31")
    write_source(source, "t", table({"x": "int64"}, (1,)))
    pipeline.read_parquet("in", "in", partitions={"d": "date"}).stage("rows")
    with pytest.raises(GpuetlError, match=r"'d=0000-12-31' is not of type date"):
        pipeline.run(engine="pandas", keep=["rows"])


@pytest.fixture
def far(source):
    """A source with dates, timestamps and lists of dates outside of years 1 to 9999."""
    dates = pa.array([*FAR_DATES, 0], pa.int32()).cast(pa.date32())
    times = pa.array([-(10**17), 9 * 10**18, 0], pa.int64()).cast(pa.timestamp("us"))
    lists = pa.array([[days] for days in dates.cast(pa.int32()).to_pylist()], pa.list_(pa.int32())).cast(
        pa.list_(pa.date32())
    )
    return source(pa.table({"d": dates, "t": times, "l": lists}))


def test_a_report_shows_dates_outside_of_years_1_to_9999(far, pipeline, tmp_path, engine):
    far.write_parquet("out", "out.parquet")
    done = pipeline.run(engine=engine, keep=[])
    done.report.write(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    for text in ("-0221-09-04", "10000-01-01", "287168-08-24 16:00:00", "[10000-01-01]"):
        assert text in page


def test_an_expectation_shows_dates_outside_of_years_1_to_9999(far, pipeline):
    from gpuetl import ContractBroken

    far.select("d", "t").expect(range={"d": (None, date(2000, 1, 1))}).stage("rows")
    with pytest.raises(ContractBroken, match="10000-01-01"):
        pipeline.run(engine="pandas", keep=["rows"])


def test_a_join_names_a_key_outside_of_years_1_to_9999(far, pipeline, source, failure):
    other = source(pa.table({"d": pa.array([FAR_DATES[1]] * 2, pa.int32()).cast(pa.date32())}), "other")
    assert "d = 10000-01-01 is in more than one row" in failure(
        far.select("d").join(other, on="d", validate="many_to_one"), RunFailed
    )


def test_datetimes_of_the_usual_years_are_shown_as_before(source, pipeline, tmp_path):
    t = source(table({"t": "timestamp", "x": "int64"}, (datetime(2026, 11, 1, 7, 30), 1)))
    t.write_parquet("out", "out", partition_by="t")
    pipeline.run(engine="pandas", keep=[])
    assert [path.name for path in (tmp_path / "out").glob("[!.]*")] == ["t=2026-11-01 07%3A30%3A00"]
