"""rename: other names in the same place."""

import pytest

from tables import table

pytestmark = pytest.mark.single_rows

TYPES = {"a": "int64", "b": "string"}


@pytest.mark.parametrize("rows", [[], [(1, "x")], [(1, "x"), (None, None), (3, "z")]])
def test_rename_keeps_the_columns_place(source, check, rows):
    t = source(table(TYPES, *rows))
    check(t.rename({"a": "c"}), table({"c": "int64", "b": "string"}, *rows), ordered=True)


def test_rename_may_swap_names(source, check):
    t = source(table(TYPES, (1, "x"), (2, "y"), (3, "z")))
    check(
        t.rename({"a": "b", "b": "a"}),
        table({"b": "int64", "a": "string"}, (1, "x"), (2, "y"), (3, "z")),
        ordered=True,
    )


def test_two_columns_of_one_name_are_refused(source, problem):
    assert "rename gives two columns the name 'b'" in problem(source(table(TYPES)).rename({"a": "b"}))


def test_rename_of_an_unknown_column_is_refused(source, problem):
    assert "unknown column 'z'" in problem(source(table(TYPES)).rename({"z": "y"}))
