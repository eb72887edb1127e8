"""Texts with offsets of 64 bits, of which one array of the language's texts cannot hold all."""

import pyarrow as pa
import pytest

from gpuetl import Pipeline
from gpuetl.formats import frames
from gpuetl.formats.frames import narrow_strings

TEXTS = ["", "abc", None, "äöü", "x" * 7, None, "", "yz"]


@pytest.fixture(autouse=True)
def few_bytes(monkeypatch):
    """An array holds eight bytes."""
    monkeypatch.setattr(frames, "MOST_BYTES", 8)


@pytest.mark.parametrize(("start", "rows"), [(0, 8), (1, 7), (3, 2), (5, 2), (8, 0)])
def test_texts_are_cut_into_arrays_that_hold_them(start, rows):
    """Also those of a slice; each array begins anew."""
    parts = [*narrow_strings(pa.array(TEXTS, pa.large_string()).slice(start, rows))]
    assert [part.type for part in parts] == [pa.string()] * len(parts)
    assert max(sum(len(text.encode()) for text in part.to_pylist() if text) for part in parts) <= 8
    assert [text for part in parts for text in part.to_pylist()] == TEXTS[start : start + rows]


def test_a_longer_text_stands_alone():
    """Arrow says whether it holds it."""
    texts = ["a", "b" * 20, "c"]
    assert [part.to_pylist() for part in narrow_strings(pa.array(texts, pa.large_string()))] == [
        [text] for text in texts
    ]


@pytest.mark.parametrize("chunks", [[], [TEXTS], [TEXTS, [], TEXTS]])
def test_a_frame_has_them_as_a_source(chunks):
    """As one of Polars has, in one array."""
    column = pa.chunked_array(chunks, pa.large_string())
    pipeline = Pipeline("p")
    pipeline.from_frame("t", pa.table({"s": column})).select("s").stage("out")
    assert pipeline.run(engine="pandas")["out"].to_arrow()["s"].to_pylist() == column.to_pylist()
