"""The servers of object stores that tests/places has."""

from places.conftest import running_servers, s3_server

__all__ = ["running_servers", "s3_server"]
