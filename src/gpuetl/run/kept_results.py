"""Keep the results of a run in the cache of tables, so that the next cell of a notebook has them."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.options import RunOptions
from gpuetl.plan.plan import Check, Plan
from gpuetl.run.result_cache import KeptRows, result_cache
from gpuetl.run.result_keys import result_keys
from gpuetl.run.results import Result


def run_label(engine: str, options: RunOptions | None) -> str:
    """Return what keys of rows begin with: rows of other engines and options are kept apart, to be compared."""
    return f"{engine} " if options is None or options == RunOptions() else f"{engine} {options!r} "


def rule_key(rule: Check, counts: str | None) -> str:
    """Return what is equal for a rule on the same rows; nothing where these are not known to be the same again."""
    return f"{counts} {rule.stage} {rule.rule} {rule.content}" if counts else ""


def rule_keys(plan: Plan, keys: Mapping[int, str]) -> dict[Check, str]:
    """Return the keys of a plan's rules, without those that have none."""
    named = {rule: rule_key(rule, keys.get(id(plan.checks[rule.counts]))) for rule in plan.rules}
    return {rule: key for rule, key in named.items() if key}


def keep_results(plan: Plan, label: str, results: Mapping[str, Result], warnings: tuple[str, ...]) -> None:
    """Keep what a run gave whose contracts held.  Of a GPU's rows those are kept that are in host memory anyway.

    `plan` is the one that ran: it has the states in which its files were read.
    """
    keys = {identity: label + key for identity, key in result_keys(plan.roots).items()}
    rules = frozenset(rule_keys(plan, keys).values())
    for name, result in results.items():
        on_host = result.table is not None or result.backend.device == "CPU"
        key = keys.get(id(plan.kept[name]))
        if key is not None and on_host:
            result_cache.keep(key, KeptRows(result.to_arrow(), True, rules, warnings))
