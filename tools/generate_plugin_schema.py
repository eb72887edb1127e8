"""Write the JSON Schema next to the example package, which knows the package's steps, formats and checks.

python tools/generate_plugin_schema.py            write examples/plugin/pipeline.schema.json
python tools/generate_plugin_schema.py --check    fail if it is not what would be written
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "examples" / "plugin"
SCHEMA = PACKAGE / "pipeline.schema.json"


def schema_text() -> str:
    """Return what `gpuetl schema --pipeline` prints where the example package alone is installed."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as site:
        info = Path(site) / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
        )
        groups = project["entry-points"].items()
        lines = (
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items()) for group, names in groups
        )
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        paths = [site, str(PACKAGE / "src"), str(ROOT / "src")]
        done = subprocess.run(
            [sys.executable, "-m", "gpuetl", "schema", "--pipeline"], check=True, stdout=subprocess.PIPE,
            encoding="utf-8", env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip
    return done.stdout


def main() -> int:
    """Write the schema, or compare it with `--check`."""
    text = schema_text()
    if "--check" in sys.argv:
        return int(SCHEMA.read_text(encoding="utf-8") != text)
    SCHEMA.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
