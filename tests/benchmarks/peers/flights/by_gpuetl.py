"""The demo as it is shipped, its sinks redirected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gpuetl as ge
from gpuetl.spec.values import Text

PIPELINE = Path(__file__).parents[4] / "pipelines" / "flights.yaml"


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    pipeline = ge.load(PIPELINE)
    sinks = {
        name: replace(sink, path=Text(str(out / Path(sink.path).name))) for name, sink in pipeline.spec.sinks.items()
    }
    pipeline.spec = replace(pipeline.spec, sinks=sinks)
    pipeline.run(engine="pandas", keep=[])
