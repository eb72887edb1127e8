"""What a run would leave behind if its process ended now, and what cleans that up."""

from __future__ import annotations

import shlex

from gpuetl.plan.nodes import Write
from gpuetl.run.account import Account


def what_is_left(account: Account) -> str:
    """Say what became of the sinks, and which command finishes, undoes or removes what is left.

    It is asked by another thread, at any moment of the run.
    """
    recorder, plan = account.recorder, account.plan
    if recorder.committed:
        return "all sinks are written"
    paths = [write.target.path for write in plan.sinks.values() if isinstance(write, Write)] if plan else []
    if not paths:
        return "no sink has changed"
    named = " ".join(dict.fromkeys(shlex.quote(str(path)) for path in paths))
    if recorder.committing:
        return (
            "the sinks were being changed.  The next run to them finishes or undoes that.  To do it now: "
            f"gpuetl recover {named}"
        )
    return (
        "no sink has changed.  The files that the run has written stay hidden next to its sinks until the next run to "
        f"them.  To remove them now: gpuetl clean {named}"
    )
