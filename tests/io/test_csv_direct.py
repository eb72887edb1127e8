"""Columns of CSV files that Arrow reads without their texts: the same values as through CAST."""

import random

import pytest

from gpuetl import Pipeline
from gpuetl.engines.pandas.io import csv_direct
from gpuetl.engines.pandas.io.csv_reader import rows_of
from gpuetl.formats.csv_pieces import CsvText
from left_to_full import in_full

TYPES = [
    "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "bool", "date", "timestamp", "timestamp[UTC]",
    "timestamp_ns", "decimal(9,2)", "time", "duration",
]  # fmt: skip
NUMBERS = [
    "1", "-1", "007", "+1", "-0", "0x1F", "0X1f", "-0x1", "1.5", ".5", "5.", "1e5", "1e39", "1e309", "1e-400", "nan",
    "NaN", "nan(1)", "inf", "-Infinity", "127", "128", "255", "256", "9223372036854775807", "18446744073709551615",
    "18446744073709551616", "1_0", "1,0", "١",
]  # fmt: skip
TIMES = [
    "2024-02-29", "2023-02-29", "2024-1-1", "20240101", "2024-01-31 10:00", "2024-01-31T10", "2024-01-31 24:00",
    "2024-01-31 10:00:60", "2024-01-31T10:00:00.123456", "2024-01-31 10:00:00.1234567", "2024-01-31 10:00:00Z",
    "2024-01-31T10:00:00+01:30", "2024-01-31T10:00:00+0130", "9999-12-31", "0001-01-01", "1677-01-01", "10:00",
    "2024-01-31 100000", "1970-01-01 00:00:00.",
]  # fmt: skip
WORDS = ["true", "TRUE", "True", "tRue", "false", "FALSE", "t", "yes", "0", "", "NA", "null", " ", "x", "ü"]


@pytest.fixture
def reader(pipeline, monkeypatch):
    """Makes what reads records of some types directly, and as CAST does."""

    def of(types, **keys):
        (pipeline.root / "s.csv").write_text(",".join(types) + "\n")
        reads = Pipeline("reads", root=pipeline.root)
        reads.read_csv("s", "s.csv", types, on_bad_row="null", **keys)
        dataset = reads.plan().sources["s"].dataset
        file = dataset.row_groups[0].file

        def both(text):
            direct = rows_of(dataset, file, list(types), CsvText(text.encode(), 2))
            monkeypatch.setattr(csv_direct, "is_shared", lambda dtype: False)
            cast = rows_of(dataset, file, list(types), CsvText(text.encode(), 2))
            monkeypatch.undo()
            return direct, cast

        return both

    return of


@pytest.mark.part(12)
@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_each_text_is_read_as_cast_does(reader, dtype):
    texts, read = NUMBERS + TIMES + WORDS, reader({"x": dtype, "s": "string"}, nulls=["", "NA"])
    padded, quoted = [f" {text}\t" for text in texts], [f'"{text}"' for text in texts]
    fields = [text if text.startswith('"') or "," not in text else f'"{text}"' for text in [*texts, '" 1"', *padded]]
    alone, together = fields[: len(texts) + 1], fields[len(texts) + 1 :]
    several = in_full([[field] for field in (*together, *quoted)], [together, quoted])
    for some in [*([field] for field in alone), *several]:
        direct, cast = read("".join(f"{field},a\n" for field in some))
        assert direct.schema == cast.schema
        assert repr(direct.to_pylist()) == repr(cast.to_pylist()), some


@pytest.mark.part(7)
@pytest.mark.slow
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_random_columns_are_read_as_cast_does(reader, ends):
    draw = random.Random(ends)
    for _ in range(20):
        types = {f"c{place}": draw.choice(TYPES) for place in range(draw.randrange(1, 4))}
        read = reader(types)
        for _ in range(10):
            good = draw.choice([NUMBERS[:2], NUMBERS, TIMES[:1], TIMES, WORDS])
            fields = [text if "," not in text else f'"{text}"' for text in good]
            rows = [[draw.choice([*fields, "", '"1"', '""']) for _ in types] for _ in range(draw.randrange(1, 6))]
            text = "".join(",".join(row) + ends for row in rows)
            direct, cast = read(text)
            assert direct.schema == cast.schema
            assert repr(direct.to_pylist()) == repr(cast.to_pylist()), text
