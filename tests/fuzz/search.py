"""Cases by seed, and the smallest case that hypothesis finds from one that fails."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from fuzz.cases import Case, cases, drawn_case
from fuzz.checks import Outcome, check_case, check_engine
from fuzz.draws import Choice, SeededDraws

SHRINK_SECONDS = 60


@dataclass(frozen=True)
class Failure:
    """A seed whose case fails, why, and the smallest case found that fails too."""

    seed: int
    error: Exception
    case: Case | None
    smallest: Case | None = None
    smallest_error: Exception | None = None

    def __str__(self) -> str:
        case, error = (self.smallest, self.smallest_error) if self.smallest else (self.case, self.error)
        failure = f"{type(error).__name__}: {error}"
        return f"seed {self.seed}{case!r}\n{failure}\n\nreplay it with: make fuzz SEED={self.seed}"


def run_seed(seed: int, shrink: bool = True, engine: str = "") -> Outcome | Failure:
    """Draw the case of a seed and check it: by DuckDB and other layouts, or an engine by the oracle."""
    draws, case = SeededDraws(seed), None
    check = partial(check_engine, engine=engine) if engine else check_case
    try:
        case = drawn_case(draws)
        return check(case)
    except Exception as error:
        smallest = shrunk(draws.made, check) if shrink else None
        return Failure(seed, error, case, *(smallest or ()))


class Enough(KeyboardInterrupt):
    """Shrinking took its time; hypothesis stops at interrupts alone."""


def shrunk(choices: list[Choice], check: Callable[[Case], Outcome] = check_case) -> tuple[Case, Exception] | None:
    """Return the smallest failing case that hypothesis reaches from these choices in its time, and its error."""
    failing: list[tuple[Case, Exception]] = []
    until = time.monotonic() + SHRINK_SECONDS

    def fails(case: Case) -> bool:
        if time.monotonic() > until:
            raise Enough
        try:
            check(case)
        except Exception as error:
            failing.append((case, error))
            return True
        return False

    database = InMemoryExampleDatabase()
    database.save(b"case.secondary", choices_to_bytes(choices))  # the primary ones are small already
    how = settings(
        database=database, phases=[Phase.reuse, Phase.shrink], deadline=None, suppress_health_check=list(HealthCheck)
    )
    with suppress(NoSuchExample, Enough):
        find(cases(), fails, settings=how, database_key=b"case")
    return failing[-1] if failing else None
