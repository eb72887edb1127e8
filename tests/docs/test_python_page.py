"""The page on pipelines in Python: its blocks run one after another, and print what the page shows."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from messages import without_codes

PAGE = Path(__file__).parents[2] / "docs/python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
FILES = {
    "orders.csv": "id,user,amount\n1,ada,10\n2,bob,5\n3,ada,25\n4,bob,-1\n",
    "users.csv": "name,country\nada,CH\nbob,DE\n",
}


def test_the_blocks_print_what_the_page_shows(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    namespace = {}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 6
    for code, expected in blocks:
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "docs/python.md", "exec"), namespace)
        assert without_codes(printed.getvalue()) == without_codes(expected)
    assert namespace["mean"].syntax == namespace["same"].syntax
    namespace["pipeline"].plan()
