"""Here errors show their codes, as users see them."""

import pytest

from gpuetl import messages
from gpuetl.messages import code_of


def with_code(text: str, message: object) -> str:
    """As `messages.with_code`, which the other tests replace."""
    code = code_of(message)
    first, *rest = text.split("\n")
    return "\n".join([f"{first}  [{code}]", *rest]) if code else text


@pytest.fixture(autouse=True)
def codes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "with_code", with_code)
