"""References in paths: parameters, environment variables and the run's id."""

from datetime import date, datetime

import pytest

from gpuetl.expressions.ir import Literal, Parameter
from gpuetl.spec.parameters import UnboundScalar, UnresolvedScalar, resolve_scalars
from gpuetl.types.data_types import DATE, INT64, TIMESTAMP

PARAMETERS = {
    "day": Literal(date(2026, 11, 1), DATE), "n": Literal(3, INT64), "at": Literal(datetime(2026, 11, 1, 10, 30), TIMESTAMP), "open": Parameter("open", DATE),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("data/x.parquet", "data/x.parquet"), ("d=${params.day}/n=${params.n}", "d=2026-11-01/n=3"), ("${ params.n }", "3"), ("${params.at}", "2026-11-01T10-30-00"),
        ("${env.LAKE}/x", "/lake/x"), ("${env.LAKE:-data}/x", "/lake/x"), ("${env.NOT_SET:-data}/x", "data/x"), ("${env.NOT_SET:-}x", "x"), ("out/${run.id}", "out/r1"),
        ("$x and $(y)", "$x and $(y)"),
    ],
)  # fmt: skip
def test_references_are_replaced(monkeypatch, text, path):
    monkeypatch.setenv("LAKE", "/lake")
    monkeypatch.delenv("NOT_SET", raising=False)
    assert resolve_scalars(text, PARAMETERS, "r1") == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${env.NOT_SET}", r"the environment variable NOT_SET is not set, and has no default as in \$\{env.NOT_SET:-data\}"),
        ("${params.dya}", r"unknown reference '\$\{params.dya\}'"), ("${run.date}", "unknown reference"), ("${}", "unknown reference"), ("${env.}", "unknown reference"),
    ],
)  # fmt: skip
def test_unknown_references_are_reported(monkeypatch, text, message):
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(UnresolvedScalar, match=message):
        resolve_scalars(text, PARAMETERS, "r1")


def test_a_parameter_without_a_value_leaves_the_path_open():
    with pytest.raises(UnboundScalar):
        resolve_scalars("d=${params.open}", PARAMETERS, "r1")
