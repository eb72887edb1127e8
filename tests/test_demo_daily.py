"""`make demo-daily` in a short form: four days end with the features of one run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command import environment_without_coverage

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_four_days_end_with_the_features_of_one_run():
    demo = [sys.executable, str(ROOT / "examples/daily/demo.py"), "--days", "4", "--engine", "pandas"]
    done = subprocess.run(
        demo, env=environment_without_coverage(), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  landing/2013-01-02.parquet does not arrive\n" in done.stdout
    assert "  note: source 'landed': 2 of 4 files are new\n" in done.stdout
    assert "  3,435 rows, 14 columns: " in done.stdout
