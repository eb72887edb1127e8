"""The bytes of strings in CSV files, by which memory is expected."""

from __future__ import annotations

import pytest

from gpuetl.formats import csv_pieces

TYPES = {"id": "int64", "kind": "string", "note": "string"}


@pytest.fixture
def sizes(pipeline, monkeypatch):
    """Returns the bytes a row of the string columns of a CSV file of some text, which is cut into pieces."""
    monkeypatch.setattr(csv_pieces, "PIECE_BYTES", 1000)

    def of(text, types=TYPES, **keys):
        (pipeline.root / "s.csv").write_text(text)
        source = pipeline.read_csv("s", "s.csv", types, **keys)
        if keys.get("on_bad_row") == "quarantine":
            source.rejected.stage("rejected")
        dataset = pipeline.plan().sources["s"].dataset
        found = {name: dataset.column_values(name) for name in types if types[name] == "string"}
        return {name: values and round(values.text_bytes, 1) for name, values in found.items()}

    return of


def lines(rows, note):
    """Return a file of three columns: 2 digits, a letter, and a note that depends on the row."""
    return "id,kind,note\n" + "".join(f"{10 + row % 90},k,{note(row)}\n" for row in range(rows))


def test_strings_have_the_bytes_of_the_first_rows_and_of_their_offset(sizes):
    assert sizes(lines(500, lambda row: "n" * 80)) == {"kind": 5.0, "note": 84.0}


def test_a_small_file_is_not_looked_at(sizes):
    assert sizes("id,kind,note\n1,k,nn\n") == {"kind": None, "note": None}


def test_strings_that_get_longer_further_on_take_the_bytes_that_the_rows_have(sizes):
    """A row has 2 digits, a letter, two commas and a line end; the rest of the mean row is the note."""
    found = sizes(lines(2000, lambda row: "n" * (9 if row < 1000 else 191)))
    assert sum(found.values()) == pytest.approx(1 + 100 + 2 * 4, abs=0.2)
    assert found["note"] > 90


def test_columns_that_are_not_read_count_as_strings(sizes):
    assert sizes(lines(500, lambda row: "n" * 80), {"kind": "string"}, extra_columns="ignore") == {"kind": 5.0}


def test_rows_of_no_known_number_have_the_bytes_of_the_first_rows(sizes):
    """Where bad rows are set aside, the rows of a piece are not counted."""
    assert sizes(lines(500, lambda row: "n" * 80), on_bad_row="quarantine") == {"kind": 5.0, "note": 84.0}


def test_empty_strings_have_their_offset(sizes):
    assert sizes(lines(500, lambda row: "")) == {"kind": 5.0, "note": 4.0}
