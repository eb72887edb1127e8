"""An S3 server that fails: runs recover by asking again, or end with a message that says what to do.

No message has a secret, and no sink is left in parts.
"""

import io
import traceback
from datetime import timedelta
from itertools import product

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed
from gpuetl.places.objects import clients
from messages import without_place
from servers.faults import Fault, faulty
from servers.s3 import KEYS, s3_server

ROWS = pa.table({"x": pa.array(range(100_000), pa.int64())})
OLD = b'"x"\n7\n'
SECRET = KEYS["secret_access_key"]
RETRIES = 3
NEW = b'"x"\n' + b"".join(b"%d\n" % x for x in range(100_000))


@pytest.fixture
def proxy(s3_endpoint, s3, bucket_name, monkeypatch):
    """A proxy that lets all requests pass, with the bucket behind it; requests are tried again soon, and three times."""
    backoff = {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=5), "base": 2}
    retries = {"max_retries": RETRIES, "backoff": backoff, "retry_timeout": timedelta(seconds=20)}
    monkeypatch.setattr(clients, "RETRIES", retries)
    monkeypatch.setattr(clients, "READ_TIMEOUT", timedelta(seconds=0.5))
    written = io.BytesIO()
    pq.write_table(ROWS, written, compression="none", use_dictionary=False, row_group_size=25_000)
    obstore.put(s3, "in/a.parquet", written.getvalue())
    obstore.put(s3, "out/rows.csv", OLD)
    with faulty(s3_endpoint) as (proxy, endpoint):
        for name, value in s3_server("proxy", endpoint, KEYS).environment.items():
            monkeypatch.setenv(name, value)
        yield proxy


def copy_rows(tmp_path, bucket, path="in"):
    """Run a pipeline that reads an object, or a folder of one, and replaces another."""
    pipeline = Pipeline("test", root=tmp_path)
    rows = pipeline.read_parquet("t", f"s3://{bucket}/{path}", schema={"x": "int64"})
    rows.write_csv("out", f"s3://{bucket}/out/rows.csv", mode="overwrite")
    return pipeline.run(engine="pandas")


def problem_of(tmp_path, bucket, path="in"):
    with pytest.raises((InvalidPipeline, RunFailed)) as caught:
        copy_rows(tmp_path, bucket, path)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "Signature=" not in shown
    return without_place(str(caught.value)).replace(bucket, "BUCKET")


def rows_in(s3):
    return bytes(obstore.get(s3, "out/rows.csv").bytes())


LIST, HEAD, READ = ("GET", "list-type.*prefix=in"), ("HEAD", "in/a.parquet"), ("GET", "in/a.parquet")
STAGE, COPY, DELETE = ("PUT", "/new/"), ("PUT", "out/rows.csv$"), ("POST|DELETE", "")
REQUESTS = {"list": LIST, "head": HEAD, "read": READ, "stage": STAGE, "copy": COPY, "delete": DELETE}
PATHS = {"head": "in/a.parquet"}
"""Folders are listed, and only single objects are looked at."""
PASSING = {
    "500": {"status": 500, "code": "InternalError"},
    "503": {"status": 503, "code": "SlowDown"},
    "slow": {"delay_s": 0.2},
}


@pytest.mark.part(12)
@pytest.mark.parametrize("fault", PASSING)
@pytest.mark.parametrize("request_", REQUESTS)
def test_faults_that_pass_are_waited_for(proxy, s3, bucket_name, tmp_path, request_, fault):
    met = Fault(*REQUESTS[request_], times=RETRIES, **PASSING[fault])
    proxy.add(met)
    copy_rows(tmp_path, bucket_name, PATHS.get(request_, "in"))
    assert met.count >= 1
    assert rows_in(s3) == NEW


CUT_OR_SLOW = {
    "a range cut": (*READ, {"cut_bytes": 100}),
    "a range cut at once": (*READ, {"cut_bytes": 0}),
    "a range too slow": (*READ, {"delay_s": 0.8}),
    "a list cut": (*LIST, {"cut_bytes": 50}),
    "a list too slow": (*LIST, {"delay_s": 0.8}),
    "names of runs cut": ("GET", "delimiter", {"cut_bytes": 50}),
}


@pytest.mark.part(3)
@pytest.mark.parametrize("name", CUT_OR_SLOW)
def test_cut_and_slow_answers_are_asked_for_again(proxy, s3, bucket_name, tmp_path, name):
    method, pattern, what = CUT_OR_SLOW[name]
    met = Fault(method, pattern, times=2, **what)
    proxy.add(met)
    copy_rows(tmp_path, bucket_name)
    assert met.count == 2
    assert rows_in(s3) == NEW


LASTING = {
    "500": {"status": 500, "code": "InternalError"},
    "503": {"status": 503, "code": "SlowDown"},
    "expired": {"status": 403, "code": "ExpiredToken"},
    "expired as Amazon says": {"status": 400, "code": "ExpiredToken"},
    "denied": {"status": 403, "code": "AccessDenied"},
    "wrong key": {"status": 403, "code": "SignatureDoesNotMatch"},
    "unknown key": {"status": 403, "code": "InvalidAccessKeyId"},
    "cut": {"cut_bytes": 10},
    "too slow": {"delay_s": 0.8},
}
DENIED = "access is denied.  Check the credentials and the rights of their user"
EXPIRED = "the credentials have expired.  Get new ones and run again"
REASON = {
    "500": "the store answered with an error of its own (500).  Run again later",
    "503": "the store answered again and again that it gets too many requests.  Run again later",
    "expired": EXPIRED,
    "expired as Amazon says": EXPIRED,
    "denied": DENIED,
    "wrong key": "the secret key is wrong.  Check the credentials",
    "unknown key": "the store does not know the access key.  Check the credentials",
    "cut": "the connection is cut again and again.  Run again later",
    "too slow": "the store does not answer in time.  Run again later",
}
REASON_OF_HEAD = {
    **REASON,
    "503": "the store is not available.  Run again later",
    **dict.fromkeys(("expired", "wrong key", "unknown key"), DENIED),
    "expired as Amazon says": "the store refuses the request (400).  The credentials may have expired, or the region is wrong",
}
"""Answers to HEAD have no text that says more."""
FAILURES = {
    "list": "source 't': cannot list s3://BUCKET/in: {}",
    "head": "source 't': cannot list s3://BUCKET/in/a.parquet: {}",
    "read": "source 't': cannot read s3://BUCKET/in/a.parquet: {}",
    "stage": "sink 'out': cannot write s3://BUCKET/out/rows.csv: {}",
    "copy": "sink 'out': the commit to s3://BUCKET/out/rows.csv has not ended: out/rows.csv: {}.  Nothing is lost",
    "delete": "{}.  Nothing is lost: the next run, or gpuetl recover s3://BUCKET/out/rows.csv, goes on with it",
}
NO_BODY = [("head", "cut"), ("stage", "cut")]


MORE = pytest.mark.full(reason="faults of stores that last, at each request")
LAST = [
    pytest.param(request_, fault, marks=[MORE] * (request_ not in ("list", "head") and fault not in ("503", "denied")))
    for request_, fault in product(REQUESTS, LASTING)
    if (request_, fault) not in NO_BODY
]


@pytest.mark.part(5)
@pytest.mark.parametrize(("request_", "fault"), LAST)
def test_faults_that_last_are_named(proxy, s3, bucket_name, tmp_path, request_, fault):
    """The sink is as it was, or the next run finishes the commit."""
    proxy.add(Fault(*REQUESTS[request_], **LASTING[fault]))
    reason = (REASON_OF_HEAD if request_ == "head" else REASON)[fault]
    assert FAILURES[request_].format(reason) in problem_of(tmp_path, bucket_name, PATHS.get(request_, "in"))
    if request_ in ("list", "head", "read", "stage"):
        assert rows_in(s3) == OLD
    else:
        assert rows_in(s3) in (OLD, NEW)
    proxy.faults.clear()
    copy_rows(tmp_path, bucket_name)
    assert rows_in(s3) == NEW
    assert [one["path"] for one in obstore.list(s3, "out").collect()] == ["out/rows.csv"]


def test_the_plan_succeeds_and_the_rows_are_denied(proxy, s3, bucket_name, tmp_path):
    """Credentials that expire while the run reads."""
    proxy.add(Fault(*READ, skip=1, status=400, code="ExpiredToken"))
    assert problem_of(tmp_path, bucket_name) == f"source 't': cannot read s3://BUCKET/in/a.parquet: {EXPIRED}"
    assert rows_in(s3) == OLD


def test_another_e_tag_ends_the_run(proxy, s3, bucket_name, tmp_path):
    proxy.add(Fault(*READ, headers={"ETag": '"another"'}))
    message = "source 't': s3://BUCKET/in/a.parquet changed during the run: it has another ETag"
    assert message in problem_of(tmp_path, bucket_name)
    assert rows_in(s3) == OLD


def test_a_bucket_that_is_not_there_is_named(proxy, tmp_path):
    pipeline = Pipeline("test", root=tmp_path)
    pipeline.read_parquet("t", "s3://nowhere-at-all/in", schema={"x": "int64"}).stage("rows")
    with pytest.raises((InvalidPipeline, RunFailed)) as caught:
        pipeline.run(engine="pandas", keep=["rows"])
    assert "source 't': cannot list s3://nowhere-at-all/in: there is no such bucket" in str(caught.value)


def test_a_sink_in_a_bucket_that_is_not_there_names_the_bucket(proxy, tmp_path):
    pipeline = Pipeline("test", root=tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n")
    rows = pipeline.read_csv("t", "a.csv", schema={"x": "int64"}).stage("rows")
    rows.write_parquet("out", "s3://nowhere-at-all/out", mode="overwrite")
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine="pandas")
    reason = "there is no such bucket.  Create it, or correct the name"
    assert f"sink 'out': cannot list s3://nowhere-at-all/out: {reason}" in str(caught.value)
