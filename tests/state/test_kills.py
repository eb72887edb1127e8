"""Runs of incremental sources that are killed while files arrive: each row is in the sinks exactly once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from left_to_full import in_full

KILLS = in_full(15, 8)


@pytest.mark.slow
def test_no_row_is_lost_or_doubled_by_runs_that_are_killed(tmp_path: Path) -> None:
    results = tmp_path / "kills.json"
    command = [sys.executable, "-m", "state.kill_runs", "--kills", str(KILLS), "--results", results]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    modes = json.loads(results.read_text())["modes"]
    assert [mode["mode"] for mode in modes] == ["new_files", "watermark"]
    assert sum(mode["kills"] for mode in modes) == KILLS
    for mode in modes:
        assert mode["rows"] > 0
        assert (mode["lost"], mode["doubled"], mode["wrong_latest"], mode["failed"]) == (0, 0, 0, [])
