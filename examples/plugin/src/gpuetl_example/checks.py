"""A check: columns that hold account numbers."""

from typing import ClassVar

from gpuetl.plugins import SOME_NAMES, Check, dataclass, key


@dataclass(frozen=True, kw_only=True)
class Iban(Check):
    """The columns hold international bank account numbers: `iban: [account]`."""

    verb: ClassVar[str] = "iban"
    columns: tuple[str, ...] = key(SOME_NAMES, name="iban", doc="columns with account numbers")

    def condition(self, column: str) -> str:
        """Match the country, the check digits and the account."""
        return f"regexp_full_match({column}, '[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{11,30}}')"
