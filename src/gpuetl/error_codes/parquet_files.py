"""Parquet files that are damaged, encrypted, or hold what gpuetl cannot read."""

from gpuetl.error_codes.page import ErrorPage

WRITE = """\
import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline

"""
READ = """\
pipeline = Pipeline("example")
pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")
pipeline.run(engine="pandas")
"""
READ_VERIFIED = READ.replace(
    'pipeline.read_parquet("shops", "shops.parquet").write',
    'shops = pipeline.read_parquet("shops", "shops.parquet", verify_checksums=True)\nshops.write',
)
READ_ID = READ.replace('"shops.parquet")', '"shops.parquet", columns=["id"])')
SHOPS = 'pq.write_table(pa.table({"id": [1, 2], "city": ["Bern", "Paris"]}), "shops.parquet")\n'

PAGES = (
    ErrorPage(
        code="GE1440",
        title="the metadata of a Parquet file contradicts itself",
        cause=(
            "The file ends as a Parquet file does, but its metadata is damaged: it ends early, declares more than the "
            "file has, or has other columns in its row groups than in its schema."
        ),
        fix="Get the file again, rewrite it, or take it out of the path of the source.",
        kind="python",
        example=WRITE + SHOPS + 'with open("shops.parquet", "r+b") as file:\n'
        "    file.seek(-8, 2)\n"
        '    file.write((1 << 30).to_bytes(4, "little"))\n' + READ,
        message="""\
gpuetl.errors.InvalidPipeline: example.py:11: source 'shops': shops.parquet has metadata that contradicts itself: it declares 1,073,741,824 bytes of metadata, more than the file has  [GE1440]
    pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")
Get the file again, write it anew, or take it out of the source's path.""",
        fixed=WRITE + SHOPS + READ,
    ),
    ErrorPage(
        code="GE1441",
        title="the name of a column is not UTF-8",
        cause="A Parquet file has a column whose name is not UTF-8, and the pipeline reads all columns.",
        fix=(
            "Rename the column where the file is made, or name the columns to read in `columns` of the source: the "
            "other columns are read."
        ),
        kind="python",
        example=WRITE
        + 'pq.write_table(pa.table({"id": [1, 2], "caf_": [3, 4]}), "shops.parquet", store_schema=False)\n'
        'data = open("shops.parquet", "rb").read()\n'
        'open("shops.parquet", "wb").write(data.replace(b"caf_", b"caf\\xe9"))\n' + READ,
        message="""\
gpuetl.errors.InvalidPipeline: example.py:10: source 'shops': the name of column 'caf\\xe9' is not UTF-8  [GE1441]
    pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")
Rename it where the file is made, or name the columns to read in the source's columns.""",
        fixed=WRITE + 'pq.write_table(pa.table({"id": [1, 2], "caf_": [3, 4]}), "shops.parquet", store_schema=False)\n'
        'data = open("shops.parquet", "rb").read()\n'
        'open("shops.parquet", "wb").write(data.replace(b"caf_", b"caf\\xe9"))\n' + READ_ID,
    ),
    ErrorPage(
        code="GE1442",
        title="a Parquet file or a column is encrypted",
        cause="The file, or a column that the pipeline reads, is encrypted.  gpuetl has no keys.",
        fix="Decrypt the file with the tool that wrote it, or name the columns to read that are not encrypted.",
        kind="python",
        example=WRITE + SHOPS + 'with open("shops.parquet", "r+b") as file:\n'
        "    file.seek(-4, 2)\n"
        '    file.write(b"PARE")\n' + READ,
        message="""\
gpuetl.errors.InvalidPipeline: example.py:11: source 'shops': shops.parquet is encrypted, and gpuetl has no keys  [GE1442]
    pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")
Decrypt it with the tool that wrote it.""",
        fixed=WRITE + SHOPS + READ,
    ),
    ErrorPage(
        code="GE1443",
        title="a Parquet file declares more than a file can have",
        cause=(
            "The file declares more than 100,000 columns, or a row group with more rows than its bytes can hold.  Such "
            "files are damaged, or made to exhaust memory."
        ),
        fix="Write the file anew.  Store very many columns as rows: a name, a key and a value.",
        kind="python",
        example=WRITE + 'names = [f"column {place}" for place in range(100_001)]\n'
        'pq.write_table(pa.table([pa.nulls(1)] * len(names), names), "shops.parquet", store_schema=False)\n' + READ,
        message="""\
gpuetl.errors.InvalidPipeline: example.py:9: source 'shops': shops.parquet declares 100,001 columns, and gpuetl reads up to 100,000  [GE1443]
    pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")""",
        untested="Writing so many columns takes 5 seconds; tests/hostile has such files.",
    ),
    ErrorPage(
        code="GE1444",
        title="microseconds do not hold an INT96 time",
        cause=(
            "The file stores timestamps as INT96, an old form that counts nanoseconds.  One is not a whole number of "
            "microseconds, or is beyond the years that microseconds in 64 bits hold."
        ),
        fix="Write the file with timestamps in microseconds, or leave the column out.",
        kind="python",
        example=WRITE + 'times = pa.array([1_500], pa.timestamp("ns"))\n'
        'pq.write_table(pa.table({"at": times}), "shops.parquet", use_deprecated_int96_timestamps=True)\n' + READ,
        message="""\
gpuetl.errors.RunFailed: example.py:9: source 'shops': shops.parquet: column 'at': microseconds do not hold the INT96 time in row 0: 0 days, 0 ms and 1500 ns after 1970  [GE1444]
    pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")
Write the file again with timestamps in microseconds, or leave the column out.""",
        fixed=WRITE + 'times = pa.array([2_000], pa.timestamp("ns"))\n'
        'pq.write_table(pa.table({"at": times}), "shops.parquet", use_deprecated_int96_timestamps=True)\n' + READ,
    ),
    ErrorPage(
        code="GE1445",
        title="the checksum of a Parquet page does not match",
        cause="The source has `verify_checksums: true`, and the checksum of a page differs from the page's bytes.",
        fix="Get the file again: it was damaged after it was written.",
        kind="python",
        example=WRITE + 'rows = pa.table({"id": [1, 2], "city": ["Bern", "Paris"]})\n'
        'pq.write_table(rows, "shops.parquet", compression="none", write_statistics=False, write_page_checksum=True)\n'
        'data = open("shops.parquet", "rb").read()\n'
        'open("shops.parquet", "wb").write(data.replace(b"Paris", b"Doris", 1))\n' + READ_VERIFIED,
        message="""\
gpuetl.errors.RunFailed: example.py:11: source 'shops': cannot read shops.parquet: the checksum of a page does not match  [GE1445]
    shops = pipeline.read_parquet("shops", "shops.parquet", verify_checksums=True)
Reader error: could not verify page integrity, CRC checksum verification failed for page_ordinal 0
Check the file, or take it out of the source's path.""",
        fixed=WRITE + SHOPS + READ_VERIFIED,
    ),
    ErrorPage(
        code="GE1446",
        title="a damaged page stopped the GPU",
        cause=(
            "libcudf does not check all bytes of a Parquet page.  A page was damaged in such a way that libcudf read "
            "memory outside its arrays, and the GPU stopped.  No sink has changed.  The process cannot use the GPU any "
            "more; a worker of a cluster starts again."
        ),
        fix="Set `verify_pages: true` on the source, or run with --engine pandas: both name the file.  Get the file again: "
        "it was damaged after it was written.",
        kind="python",
        example=READ,
        message="""\
gpuetl.errors.RunFailed: example.py:9: source 'shops': the GPU stopped while shops.parquet was read: a page is damaged  [GE1446]
    pipeline.read_parquet("shops", "shops.parquet").write_parquet("out", "out.parquet", mode="overwrite")
Find the file with verify_pages: true on the source, or with --engine pandas.""",
        untested="It needs a GPU.",
    ),
)
