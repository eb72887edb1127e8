"""The servers of object stores that tests/places has."""

import pytest

from places.conftest import running_servers, s3_server, store, store_bucket, store_environment, store_server

__all__ = ["running_servers", "s3_server", "store", "store_bucket", "store_environment", "store_server"]

EACH_TYPE = "each type in a checkpoint on dask, and on the GPU engine on a CPU"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave tests of each type on most engines to `make test-all`: all write with the same two writers."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    if "test_all_types_are_kept_exactly" in item.name and params.get("engine", "pandas") not in ("pandas", "cudf"):
        item.add_marker(pytest.mark.full(reason=EACH_TYPE))
