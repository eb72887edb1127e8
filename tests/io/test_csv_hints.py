"""Hints on columns of a CSV file that are inferred as strings, though most of their values are of another type."""

import pytest

from gpuetl.formats import csv_hints
from gpuetl.formats.csv_options import CsvOptions
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.registry import FORMATS


@pytest.fixture
def hints(tmp_path):
    """Returns the hints on a file with some text."""

    def found(text, **options):
        (tmp_path / "s.csv").write_text(text, encoding="utf-8")
        dataset = Dataset("s", "csv", tmp_path / "s.csv", options=CsvOptions(**options))
        return list(FORMATS["csv"].type_hints(dataset, FORMATS["csv"].infer(dataset).types).values())

    return found


def column(*values, name="x"):
    return "\n".join([name, *values, ""])


TEN = [f"{number}.5" for number in range(10)]


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (
            ["1.5", "2.5", "3.5", "4.5", "far", "6.5"],
            "1 of 6 values (16.7 %) is not valid as float64: 'far' in row 5.  To read it as float64, write x: float64 in "
            "the schema, and next to it on_bad_row: null (or quarantine, to keep these rows apart)",
        ),
        (
            [*map(str, range(8)), "n/a", "-"],
            "2 of 10 values (20 %) are not valid as int64: the first is 'n/a' in row 9.  To read it as int64, write "
            'x: int64 in the schema, and next to it nulls: ["", "-", "n/a"]',
        ),
        (
            ["2026-11-01", "2026-11-02", "2026-11-31", "2026-11-03", "2026-11-04"],
            "1 of 5 values (20 %) is not valid as date: '2026-11-31' in row 3.  To read it as date, write x: date in the "
            "schema, and next to it on_bad_row: null (or quarantine, to keep these rows apart)",
        ),
        (
            ["2026-11-01 10:00:00", *["2026-11-01 11:30:00"] * 5, "noon"],
            "1 of 7 values (14.3 %) is not valid as timestamp: 'noon' in row 7.  To read it as timestamp, write x: "
            "timestamp in the schema, and next to it on_bad_row: null (or quarantine, to keep these rows apart)",
        ),
        (
            ['"3,50"', '"12,25"', "7"],
            "its values look like '3,50'.  To read it as float64, write x: float64 in the schema, and next to it decimal: \",\"",
        ),
        (
            ['"1.234,50"', '"12,5"'],
            "its values look like '1.234,50'.  To read it as float64, write x: float64 in the schema, and next to it decimal: \",\", "
            'thousands: "."',
        ),
        (
            ['"1,234.50"', '"12"'],
            "its values look like '1,234.50'.  To read it as float64, write x: float64 in the schema, and next to it "
            'thousands: ","',
        ),
        (
            ['"1,234"', '"5,678"'],
            "its values look like '1,234'.  To read it as float64, write x: float64 in the schema, and next to it thousands: \",\" "
            "(or decimal: \",\", as '1,234' can be either)",
        ),
        (
            ["31.12.2026", "01.02.2026"],
            "its values look like '31.12.2026'.  To read it as date, write x: date in the schema, and next to it "
            'date_format: {x: "%d.%m.%Y"}',
        ),
        (
            ["01/02/2026", "03/04/2026"],
            "its values look like '01/02/2026'.  To read it as date, write x: date in the schema, and next to it "
            'date_format: {x: "%d/%m/%Y"} (or date_format: {x: "%m/%d/%Y"}, as \'01/02/2026\' can be either)',
        ),
        (
            ["12/31/2026 10:00", "01/02/2026 11:00"],
            "its values look like '12/31/2026 10:00'.  To read it as timestamp, write x: timestamp in the schema, and next to it "
            'timestamp_format: {x: "%m/%d/%Y %H:%M"}',
        ),
    ],
)
def test_a_column_of_which_most_values_are_of_a_type(hints, values, hint):
    assert hints(column(*values)) == [f"column 'x' is a string: {hint}"]


@pytest.mark.parametrize(
    "values",
    [
        ["007", "12", "13", "14", "15", "16"],
        ["+41", "42", "43", "44", "45", "46"],
        ["red", "green", "7"],
        ["1.5", "2.5", "far", "near"],
        ["", ""],
        ["1.5", "far"],
    ],
)
def test_codes_and_words_get_no_hint(hints, values):
    assert hints(column(*values)) == []


def test_a_decimal_comma_beside_decimal_points_is_converted_in_a_step(hints):
    assert hints('the price,km\n"1.234,5",1.5\n"2,5",2.5\n') == [
        "column 'the price' is a string: its values look like '1.234,5'.  Other columns have decimal points, so convert "
        "it in a step: with_columns: {\"the price\": \"TRY_CAST(replace(replace(\\\"the price\\\", '.', ''), ',', '.') "
        'AS float64)"}'
    ]


def test_a_marker_in_quotes_is_not_null_so_it_is_a_bad_row(hints):
    assert hints(column(*TEN, '"n/a"'))[0].endswith("on_bad_row: null (or quarantine, to keep these rows apart)")
    assert hints(column(*TEN, "n/a"))[0].endswith('nulls: ["", "n/a"]')


def test_what_the_hint_says_works(pipeline):
    (pipeline.root / "s.csv").write_text(
        'day;price;n\n31.12.2026;"1.234,50";1\n01.02.2026;2,5;n/a\n05.02.2026;7;3\n' + "05.02.2026;7;3\n" * 3
    )
    options = {"delimiter": ";", "decimal": ",", "thousands": ".", "date_format": {"day": "%d.%m.%Y"}}
    s = pipeline.read_csv("s", "s.csv", {"day": "date", "price": "float64", "n": "int64"}, nulls=["", "n/a"], **options)
    assert [str(row["day"]) for row in s.head(2).to_arrow().to_pylist()] == ["2026-12-31", "2026-02-01"]
    assert s.collect().to_arrow().to_pydict()["price"][:3] == [1234.5, 2.5, 7.0]


def test_a_long_value_is_cut(hints):
    assert f"'{'w' * csv_hints.SHOWN_CHARACTERS}…'" in hints(column(*TEN, "w" * 100))[0]
