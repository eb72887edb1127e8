"""The pages of the documentation: `python -m gpuetl.error_codes.document docs/errors` writes them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from gpuetl.error_codes import MODULES, PAGES

HEAD = """\
# Error codes

Every error has a code, at the end of its first line.  `gpuetl explain GE1003` prints the page of a code.  Codes never
change their meaning.

The examples are steps of this pipeline, unless they show a whole file:

```yaml
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, day: date}}
stages:
  result:
    from: sales
    steps:
      # the example
sinks:
  out: {from: result, parquet: out.parquet, mode: overwrite}
```
"""


def pages() -> dict[str, str]:
    """Return the text of each file: the index, and a page for each code."""
    index = "\n".join([HEAD, *map(section, MODULES)])
    return {"README.md": index, **{f"{code}.md": page.markdown for code, page in PAGES.items()}}


def section(module: ModuleType) -> str:
    """Return one family of codes as a table."""
    rows = "\n".join(f"| [{page.code}]({page.code}.md) | {page.title} |" for page in module.PAGES)
    return f"## {str(module.__doc__).strip().rstrip('.')}\n\n| code | error |\n|---|---|\n{rows}\n"


def write_pages(folder: Path) -> None:
    """Write the pages into a folder, and remove those of codes that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    markdown_by_name = pages()
    for old in folder.glob("*.md"):
        if old.name not in markdown_by_name:
            old.unlink()
    for name, text in markdown_by_name.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
