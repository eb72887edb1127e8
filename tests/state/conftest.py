"""The servers of object stores that tests/places has."""

from places.conftest import running_servers, s3_server, store, store_bucket, store_environment, store_server

__all__ = ["running_servers", "s3_server", "store", "store_bucket", "store_environment", "store_server"]
