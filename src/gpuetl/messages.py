"""Texts of errors and warnings, each with the code under which `gpuetl explain` describes it."""

from __future__ import annotations


class Message(str):
    """The text of an error or warning, which remembers its code; equal to the plain string."""

    code: str
    __slots__ = ("code",)

    def __new__(cls, code: str, text: str) -> Message:
        """Keep the code beside the text."""
        self = super().__new__(cls, text)
        self.code = code
        return self

    def __str__(self) -> str:
        """Return the text with its code: an exception's `str` is that of its first argument."""
        return self

    def __reduce__(self) -> tuple[type[Message], tuple[str, str]]:
        return Message, (self.code, "".join(self))


def coded(code: str, text: str) -> Message:
    """Return the text of an error with its code, such as GE1003, which has a page in `error_codes/`."""
    return Message(code, text)


def code_of(text: object) -> str:
    """Return the code of a text, or of the exception whose text it is; nothing where it has none."""
    if isinstance(text, BaseException):
        text = text.args[0] if text.args else ""
    return getattr(text, "code", "")


def recoded(text: str, like: object) -> str:
    """Return a longer text with the code of the one, or of the exception, that it was made of."""
    code = code_of(like)
    return Message(code, text) if code else text


def with_code(text: str, message: object) -> str:
    """Return what users see: a text with the code of its message at the end of the first line."""
    code = code_of(message)
    if not code:
        return text
    first, *rest = "".join(text).split("\n")
    return "\n".join([f"{first}  [{code}]", *rest])
