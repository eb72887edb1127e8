"""Tasks placed on workers, where a scheduler would give all of them to one.

It gives a task to a worker that has some of what the task takes.  Where a table goes to each partition of a source,
that is one worker for all of them; others would take some of them over, but not before a tenth of a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

Tasks = dict[Any, Any]


def placed(tasks: Tasks, shares: Mapping[Any, float], workers: Collection[str]) -> HighLevelGraph:
    """Return the tasks, of which those with a share of a source go to the workers in turn, by address.

    Neighbours go to one worker.  Another one may take a task, and does where the first is lost.  Of tasks in layers
    dask computes no name from all that they hold, which takes it 0.1 ms a task.
    """
    order = sorted(workers)
    layers: defaultdict[str, Tasks] = defaultdict(dict)
    for key, task in tasks.items():
        layers[order[int(shares[key] * len(order))] if key in shares else ""][key] = task
    return HighLevelGraph({at: layer(at, its) for at, its in layers.items()}, dict.fromkeys(layers, frozenset()))


def layer(address: str, tasks: Tasks) -> MaterializedLayer:
    """Return the tasks of one worker, or those of any."""
    return MaterializedLayer(tasks, {"workers": [address], "allow_other_workers": True} if address else None)
