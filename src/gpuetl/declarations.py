"""The names that a pipeline in Python declares: replaced when they are declared again, and removed by `del`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

from gpuetl import messages
from gpuetl.errors import InvalidPipeline, have_hint
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import coded
from gpuetl.spec.model import PipelineSpec, StageSpec
from gpuetl.spec.places import caller

V = TypeVar("V")
NOUNS = {
    "parameters": "parameter",
    "sources": "source",
    "stages": "stage",
    "sinks": "sink",
    "storage": "storage",
    "tests": "test",
}


class NameReplaced(UserWarning):
    """A script declares a name a second time; the second declaration replaces the first one."""


def in_notebook() -> bool:
    """Tell whether IPython runs this: there, cells run again."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return shell is not None and shell() is not None


def note_replaced(section: str, name: str) -> None:
    """Warn that a declaration replaces another one, but in a notebook, where that is how a cell is corrected."""
    if in_notebook():
        return
    place = caller()
    text = coded("GE1740", f"{NOUNS[section]} '{name}' was declared before; this declaration replaces it")
    shown = messages.with_code(text, text)
    warnings.warn_explicit(shown, NameReplaced, place.file if place else "gpuetl", place.line if place else 1)


def is_same(one: object, other: object) -> bool:
    """Tell whether two declarations are written alike: `1`, `1.0` and `True` are not."""
    return type(one) is type(other) and repr(one) == repr(other) and not hasattr(one, "table")


class Declarations(Mapping[str, V], Generic[V]):
    """The declarations of one kind by name: `pipeline.stages["clean"]`, `del pipeline.stages["clean"]`."""

    def __init__(self, kind: str, names: Callable[[], Mapping[str, Any]], get: Callable[[str], V],
                 remove: Callable[[str], None]) -> None:  # fmt: skip
        self._kind, self._names, self._get, self._remove = kind, names, get, remove

    def __getitem__(self, name: str) -> V:
        """Return a declaration; raise `KeyError` with the names that there are."""
        self._check(name)
        return self._get(name)

    def __delitem__(self, name: str) -> None:
        """Remove a declaration.  What reads it is wrong until the name is declared again."""
        self._check(name)
        self._remove(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return f"<{self._kind}s: {', '.join(self) or 'none'}>"

    def _check(self, name: str) -> None:
        if name not in self._names():
            hint = have_hint(name, self, noun=f"{self._kind.capitalize()}s")
            raise UnknownName.because(coded("GE1020", f"unknown {self._kind} '{name}'"), hint)


class UnknownName(InvalidPipeline, KeyError):
    """A name that is not declared; also a `KeyError`, as of any mapping."""


def without(spec: PipelineSpec, section: str, name: str) -> PipelineSpec:
    """Return the pipeline without a declaration."""
    changed: dict[str, Any] = {section: {n: v for n, v in getattr(spec, section).items() if n != name}}
    return replace(spec, **changed)


def with_unnamed(spec: PipelineSpec, unnamed: Mapping[str, StageSpec], prunes: bool) -> PipelineSpec:
    """Return the pipeline with those stages without a name of the user's that something reads, before what reads them.

    A cell that runs again leaves others behind, which nothing reads any more: `prunes` takes them out.
    """
    if not unnamed:
        return spec
    stages: dict[str, StageSpec] = {}

    def add(name: str) -> None:
        todo = [(without_rejected(name), False)]
        while todo:
            found, ready = todo.pop()
            if found in stages or found not in unnamed:
                continue
            if ready:
                stages[found] = unnamed[found]
            else:
                todo += [(found, True), *((without_rejected(read), False) for read in unnamed[found].reads)]

    for name, stage in spec.stages.items():
        if prunes and name in unnamed:
            continue
        for read in stage.reads:
            add(read)
        stages[name] = stage
    for sink in spec.sinks.values():
        add(sink.from_)
    return replace(spec, stages=stages)
