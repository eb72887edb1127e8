"""How many rows a physical node may give."""

import pytest

from gpuetl import RunOptions
from gpuetl.physical.estimate import estimated_rows
from plans import lowered
from tables import table, write_source


@pytest.mark.parametrize(
    ("how", "validate", "rows"),
    [
        ("inner", "many_to_many", 6),
        ("inner", "many_to_one", 6),
        ("inner", "one_to_many", 4),
        ("inner", "one_to_one", 4),
        ("left", "many_to_many", 6),
        ("left", "many_to_one", 6),
        ("left", "one_to_one", 6),
        ("right", "many_to_many", 6),
        ("right", "one_to_many", 4),
        ("right", "one_to_one", 4),
        ("full", "many_to_many", 10),
        ("semi", "many_to_many", 6),
        ("anti", "many_to_many", 6),
        ("cross", "many_to_many", 24),
    ],
)
@pytest.mark.parametrize("partition_rows", [2, 99])
def test_a_join_gives_the_rows_of_the_side_whose_partners_are_unique(pipeline, how, validate, rows, partition_rows):
    write_source(pipeline, "t", table({"k": "int64"}, *((i,) for i in range(6))))
    write_source(pipeline, "u", table({"k": "int64"}, *((i,) for i in range(4))))
    on, suffix = (None, "_r") if how == "cross" else ("k", "")
    t, u = pipeline.table("t"), pipeline.table("u")
    t.join(u, on, how, validate=validate, suffix=suffix).stage("result")
    (root,) = lowered(pipeline, RunOptions(partition_rows=partition_rows)).roots
    assert estimated_rows(root)[id(root)] == rows
