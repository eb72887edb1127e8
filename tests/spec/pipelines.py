"""Pipelines in YAML for tests: a head with one source, and what follows it."""

import gpuetl as ge
from gpuetl.errors import InvalidPipeline

HEAD = """\
gpuetl: 1
name: daily
params:
  min_amount: {type: float64, default: 0.5}
sources:
  txns:
    parquet: txns/*.parquet
    schema: {user_id: int64, amount: float64, status: string, ts: timestamp}
"""


def problems(text: str, name: str = "daily.yaml") -> list[str]:
    """Return the problems of a pipeline as strings; none where it is valid."""
    try:
        ge.loads(text, name=name).plan(unbound=True)
    except InvalidPipeline as error:
        return [str(problem) for problem in error.problems]
    return []


def problems_after_head(body: str) -> list[str]:
    return problems(HEAD + body)


def stage(*steps: str, name: str = "clean") -> str:
    """Return the text of one stage whose steps are lines of YAML."""
    return f"stages:\n  {name}:\n    from: txns\n    steps:\n" + "".join(f"      - {step}\n" for step in steps)


def loaded(*steps: str) -> ge.Pipeline:
    return ge.loads(HEAD + stage(*steps))
