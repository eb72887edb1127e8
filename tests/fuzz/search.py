"""Cases by seed, and the smallest case that hypothesis finds from one that fails."""

from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from fuzz.cases import Case, cases, drawn_case
from fuzz.checks import Outcome, check_case
from fuzz.draws import Choice, SeededDraws

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
        told = f"{type(error).__name__}: {error}"
        return f"seed {self.seed}{case!r}\n{told}\n\nreplay it with: make fuzz SEED={self.seed}"


def run_seed(seed: int, shrink: bool = True) -> Outcome | Failure:
    """Draw the case of a seed and check it."""
    draws, case = SeededDraws(seed), None
    try:
        case = drawn_case(draws)
        return check_case(case)
    except Exception as error:
        smallest = shrunk(draws.made) if shrink else None
        return Failure(seed, error, case, *(smallest or ()))


def shrunk(choices: list[Choice]) -> tuple[Case, Exception] | None:
    """Return the smallest failing case that hypothesis reaches from these choices, and its error."""
    failing: dict[Case, Exception] = {}

    def fails(case: Case) -> bool:
        try:
            check_case(case)
        except Exception as error:
            failing[case] = error
        return case in failing

    database = InMemoryExampleDatabase()
    database.save(b"case.secondary", choices_to_bytes(choices))
    how = settings(
        database=database, phases=[Phase.reuse, Phase.shrink], deadline=None, suppress_health_check=list(HealthCheck)
    )
    try:
        smallest = find(cases(), fails, settings=how, database_key=b"case")
    except NoSuchExample:
        return None
    return smallest, failing[smallest]
