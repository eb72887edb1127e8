"""A second filesystem, in the test only: what reads files asks the filesystem of their path, on every engine."""

import errno
import io
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clusters import needs_this_process
from gpuetl import InvalidPipeline, Pipeline, RunFailed
from gpuetl.formats.dataset import Dataset
from gpuetl.places.file_state import DatasetError, size_and_time_difference
from gpuetl.places.filesystem import ListedFile, Listing
from gpuetl.places.open_file import opened
from gpuetl.places.paths import StorePath
from gpuetl.places.registry import FILESYSTEMS, path_of
from gpuetl.sandbox import in_sandbox

TYPES = {"x": "int64", "s": "string"}
ROWS = pa.table({"x": [1, 2, 3, 4], "s": ["a", None, "c, d", "e"]}, pa.schema({"x": pa.int64(), "s": pa.string()}))


class ObjectState(NamedTuple):
    """A size, a time and an ETag, as stores of objects have them."""

    size: int
    mtime_ns: int
    etag: str

    @property
    def identity(self):
        return self.etag

    guards_reads = False

    def is_settled(self, least_ns):
        return True

    def difference(self, now):
        return ", ".join(
            [f"its ETag is {now.etag} now"] * (self.etag != now.etag) + size_and_time_difference(self, now)
        )


@dataclass(frozen=True)
class OpenObject:
    """An object that is read by ranges."""

    path: StorePath
    state: ObjectState
    data: bytes = field(compare=False)

    def open(self):
        return io.BytesIO(self.data)

    def read_at(self, start, size):
        return self.data[start : start + size]

    def read_into(self, memory, start):
        memory[:] = self.data[start : start + len(memory)]

    def read_bytes(self):
        return self.data

    def for_arrow(self):
        return pa.BufferReader(self.data)

    def close(self):
        pass


class MemoryFilesystem:
    """Objects in a dictionary, by their keys: a bucket and names."""

    def __init__(self):
        self.objects, self.versions, self.opened = {}, {}, []

    def put(self, key, data):
        self.objects[key] = data
        self.versions[key] = self.versions.get(key, 0) + 1

    def path_of(self, scheme, rest, folder):
        return StorePath(scheme, PurePosixPath(rest))

    def list_files(self, path, suffix):
        key = str(path.key)
        is_glob, below = "*" in key, [name for name in sorted(self.objects) if name.startswith(f"{key}/")]
        if is_glob:
            found = [name for name in sorted(self.objects) if fnmatchcase(name, key)]
        else:
            found = [key] if key in self.objects else [name for name in below if name.endswith(suffix)]
        paths = [StorePath(path.scheme, PurePosixPath(name)) for name in found]
        files = tuple(ListedFile(one, self.info(one)) for one in paths)
        return Listing(path, suffix, files, is_folder=bool(below), is_glob=is_glob)

    def info(self, path):
        key = str(path.key)
        if key not in self.objects:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return ObjectState(len(self.objects[key]), 0, f"{key}-{self.versions[key]}")

    def open(self, path, planned=None):
        self.opened.append(str(path))
        return OpenObject(path, self.info(path), self.objects[str(path.key)])

    writes = False

    def publisher(self):
        """It is only read."""

    def local_path(self, path):
        return None


@contextmanager
def registered(scheme, filesystem):
    FILESYSTEMS[scheme] = filesystem
    try:
        yield filesystem
    finally:
        del FILESYSTEMS[scheme]


@pytest.fixture
def store():
    with registered("mem", MemoryFilesystem()) as filesystem:
        for number, rows in enumerate([ROWS.slice(0, 2), ROWS.slice(2)]):
            written = pa.BufferOutputStream()
            pq.write_table(rows, written, row_group_size=1)
            filesystem.put(f"shop/parquet/day={number}/a.parquet", written.getvalue().to_pybytes())
        filesystem.put("shop/csv/day=0/a.csv", b"x,s\n1,a\n2,\n")
        filesystem.put("shop/csv/day=1/a.csv", b'x,s\n3,"c, d"\n4,e\n')
        yield filesystem


def source(pipeline, form, path):
    keys = {"schema": TYPES, "partitions": {"day": "int64"}}
    return (pipeline.read_parquet if form == "parquet" else pipeline.read_csv)("t", path, **keys)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("path", ["mem://shop/{0}", "MEM://shop/{0}/*/a.{0}"])
def test_files_of_another_filesystem_are_read(pipeline, store, check, engine, form, path):
    needs_this_process(engine, "filesystem")
    steps = source(pipeline, form, path.format(form)).select("x", "s", "day")
    check(steps, ROWS.append_column("day", pa.array([0, 0, 1, 1])))
    assert f"mem://shop/{form}/day=1/a.{form}" in store.opened


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_sink_is_written_from_another_filesystem(pipeline, store, engine, form):
    needs_this_process(engine, "filesystem")
    source(pipeline, form, f"mem://shop/{form}").select("x", "s").sort("x").write_parquet("out", "out.parquet")
    pipeline.run(engine=engine)
    assert pq.read_table(pipeline.root / "out.parquet").equals(ROWS)


def test_bad_rows_of_another_filesystem_name_their_object(pipeline, store, local_engine):
    store.put("shop/csv/day=1/a.csv", b"x,s\n3,c\nfour,e\n")
    source(pipeline, "csv", "mem://shop/csv").stage("s")
    with pytest.raises(RunFailed, match=r"mem://shop/csv/day=1/a\.csv:3"):
        pipeline.run(engine=local_engine, keep=["s"])


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_an_object_that_changed_since_the_plan_ends_the_run(pipeline, store, form):
    dataset = Dataset("t", form, path_of(f"mem://shop/{form}", pipeline.root))
    path, state = dataset.files[0].path, dataset.files[0].state
    store.put(str(path.key), store.objects[str(path.key)])
    with pytest.raises(DatasetError, match=r"changed during the run: its ETag is .*-2 now"), opened(path, state):
        pytest.fail("it has changed before")
    del store.objects[str(path.key)]
    with pytest.raises(DatasetError, match="was deleted or moved during the run"), opened(path, state):
        pytest.fail("it is gone")


def test_what_is_not_there_is_named_with_its_scheme(pipeline, store):
    source(pipeline, "csv", "mem://shop/none.csv").stage("s")
    with pytest.raises((InvalidPipeline, RunFailed), match=r"mem://shop/none\.csv does not exist"):
        pipeline.run(keep=["s"], engine="pandas")


def test_sinks_and_sandboxes_are_of_this_machine(pipeline, store, tmp_path):
    source(pipeline, "csv", "mem://shop/csv").write_csv("out", "mem://shop/out")
    with pytest.raises(InvalidPipeline, match=r"does not support the scheme 'mem' of 'mem://shop/out'; .* file://"):
        pipeline.plan()
    other = Pipeline("other", root=tmp_path)
    source(other, "csv", "mem://shop/csv").stage("s")
    with in_sandbox(tmp_path), pytest.raises(InvalidPipeline, match="mem://shop/csv is outside of the sandbox"):
        other.plan()


def test_plans_tell_schemes_apart(pipeline, store):
    source(pipeline, "csv", "mem://shop/csv").stage("s")
    with registered("other", store):
        again = Pipeline("test", root=pipeline.root)
        source(again, "csv", "other://shop/csv").stage("s")
        assert pipeline.fingerprint != again.fingerprint
        assert again.plan().fingerprint == again.plan().fingerprint


def test_a_supported_scheme_is_named(pipeline, store):
    source(pipeline, "csv", "ftp://shop/csv")
    with pytest.raises(InvalidPipeline, match=r"it supports local paths and file://.*, mem://"):
        pipeline.plan()
