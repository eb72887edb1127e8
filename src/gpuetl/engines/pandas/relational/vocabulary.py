"""Vocabularies, by the operations that they are the same as: counts, a filter, ranks and a join."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.plan.nodes import Vocabulary, VocabularyLookup


@run_operation.register
def number_by_frequency(operation: Vocabulary, frame: pa.Table) -> pa.Table:
    """Count the values, and rank those that are kept."""
    for step in operation.steps:
        frame = run_operation(step, frame)
    return frame


@run_operation.register
def look_up(operation: VocabularyLookup, left: pa.Table, right: pa.Table) -> pa.Table:
    """Join with the vocabulary.

    Raises
    ------
    EvaluationError
        Where a value is in the vocabulary twice: its file was changed.
    """
    ids, joined, numbered = operation.steps
    return run_operation(numbered, run_operation(joined, left, run_operation(ids, right)))
