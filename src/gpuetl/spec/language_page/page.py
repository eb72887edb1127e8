"""The whole page, its contents list, and its section on steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc

from gpuetl.spec.language_page.asof import asof_markdown
from gpuetl.spec.language_page.example import Run, shown
from gpuetl.spec.language_page.expectations import expectations_markdown
from gpuetl.spec.language_page.file_tests import tests_markdown
from gpuetl.spec.language_page.kernels import KERNELS
from gpuetl.spec.language_page.options_table import step_table, table
from gpuetl.spec.language_page.parameters import parameters_markdown
from gpuetl.spec.language_page.python_kernels import python_kernels_markdown
from gpuetl.spec.language_page.session import Print, shown_session
from gpuetl.spec.language_page.sinks import sinks_markdown
from gpuetl.spec.language_page.sources import sources_markdown
from gpuetl.spec.language_page.stage_values import stage_values_markdown
from gpuetl.spec.language_page.start import COMMANDS, DAILY, FIRST, START
from gpuetl.spec.language_page.step_examples import STEP_EXAMPLES
from gpuetl.spec.language_page.storage import storage_markdown
from gpuetl.spec.language_page.triton_kernels import triton_kernels_markdown
from gpuetl.spec.language_page.values import casts_markdown, numbers_markdown, rules_markdown, types_markdown
from gpuetl.spec.steps import STEPS

STEPS_HEAD = """\
## Steps

```yaml
stages:
  result:
    from: sales
    steps:
      - filter: amount > 5
      - sort: amount desc
```

A stage runs its steps in order. Each step gets the rows of the step before it. Below, each step has an example: the
rows on the left go in, and the rows on the right come out. In the tables of keys, "the value" means that you write it
without its key, as in `filter: amount > 5`.

[Functions](functions.md) lists the functions of expressions. These errors come from every step that has such a part:

| part | errors |
|---|---|
"""
PARTS = {
    "names of columns and stages": ("GE1003", "GE1020", "GE1023"),
    "keys and their values": ("GE1006", "GE1007", "GE1008"),
    "expressions": (
        "GE1101", "GE1102", "GE1103", "GE1104", "GE1105", "GE1106", "GE1107", "GE1108", "GE1111", "GE1112", "GE1114",
        "GE1118",
    ),
    "key columns: `by`, `on`, `order_by`": ("GE1115",),
    "values, during the run": ("GE2001", "GE2002", "GE2003", "GE2008"),
}  # fmt: skip
"""Errors that are not of one step, by the part of a step that gives them."""


def language_markdown(run: Run, printed: Print, titles: Mapping[str, str]) -> str:
    """Return the page; `run` and `printed` run its examples, and `titles` are those of errors, by code."""
    sections = [
        FIRST,
        shown_session(DAILY, printed),
        COMMANDS,
        parameters_markdown(printed),
        types_markdown(run),
        rules_markdown(run),
        numbers_markdown(run),
        casts_markdown(run),
        sources_markdown(printed),
        STEPS_HEAD + "".join(f"| {part} | {', '.join(map(link, codes))} |\n" for part, codes in PARTS.items()),
        *(step_markdown(verb, run, titles) for verb in STEPS),
        asof_markdown(run),
        stage_values_markdown(printed),
        KERNELS,
        triton_kernels_markdown(run),
        python_kernels_markdown(run),
        expectations_markdown(printed),
        sinks_markdown(printed),
        storage_markdown(),
        tests_markdown(printed),
    ]
    body = "\n".join(sections)
    return f"{START}\n{contents(body)}\n{body}"


def contents(body: str) -> str:
    """Return the list of sections; that of steps has each step."""
    lines = list[str]()
    for marks, title in re.findall(r"^(##|###) (.*)$", re.sub(r"```.*?```", "", body, flags=re.DOTALL), re.MULTILINE):
        link = f"[{title}](#{anchor(title)})"
        if marks == "##":
            lines.append(f"- {link}")
        elif title in STEPS:
            lines[-1] += f"{':' if lines[-1].endswith('(#steps)') else ','} {link}"
    return "\n".join([*lines, ""])


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def step_markdown(verb: str, run: Run, titles: Mapping[str, str]) -> str:
    """Return the section of a step: what it does, an example, its keys, and its errors."""
    summary, _, details = cleandoc(str(STEPS[verb].__doc__)).partition("\n\n")
    example = STEP_EXAMPLES[verb]
    parts = [
        f"### {verb}\n",
        f"{summary}\n",
        shown(example, run),
        f"{details}\n",
        *(f"{sentence}\n\n{shown(other, run)}" for sentence, other in example.others.items()),
        step_table(STEPS[verb]),
        table(("error", "reason"), [f"| {link(code)} | {titles[code]} |" for code in example.errors]),
    ]
    return "\n".join(parts)


def link(code: str) -> str:
    """Return a link to the page of an error."""
    return f"[{code}](errors/{code}.md)"
