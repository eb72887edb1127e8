"""The page of the language, docs/language.md: texts by section, tables of keys, and examples with their output."""

from gpuetl.spec.language_page.page import language_markdown

__all__ = ["language_markdown"]
