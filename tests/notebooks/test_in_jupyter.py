"""Notebooks in a real kernel: the examples, cells that run twice, stages that are corrected, and what is shown."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

from notebooks.kernels import kernel_in

FOLDER = Path(__file__).parents[2] / "notebooks"
EXAMPLES = sorted(FOLDER.glob("*.ipynb"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Jupyter's packages among each other
]


def code_of(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.part(7)
@pytest.mark.parametrize("notebook", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_every_cell_again(notebook):
    cells = code_of(notebook)
    before = set(FOLDER.iterdir())
    with kernel_in(FOLDER) as kernel:
        kernel.run_all(cells)
        kernel.run_all(cells)
        kernel.run_all([cell for cell in cells for _ in range(2) if "del " not in cell])
    assert set(FOLDER.iterdir()) == before


@pytest.mark.parametrize("notebook", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_stores_no_outputs_and_no_paths_of_a_machine(notebook):
    text = notebook.read_text(encoding="utf-8")
    assert all(not cell.get("outputs") for cell in json.loads(text)["cells"])
    assert not re.search(r"""["'(\s](/|[A-Z]:\\\\)\w""", text)
    assert len(text) < 20_000


def test_cells_are_corrected_by_running_them_again(tmp_path):
    pq.write_table(pa.table({"a": [1, 2, 3], "s": ["1", "2", "x"]}), tmp_path / "t.parquet")
    with kernel_in(tmp_path) as kernel:
        kernel.run_all(
            ["from gpuetl import Pipeline, col, expr\np = Pipeline('nb')\nt = p.read_parquet('t', 't.parquet')"]
        )
        wrong = kernel.run("n = t.with_columns(n=expr('CAST(s AS int64)')).stage('n')\nn.collect()")
        assert [(output["output_type"], output.get("ename")) for output in wrong] == [("error", "RunFailed")]
        assert "Cell In[2]:1: stage 'n', step 1" in wrong[0]["evalue"]
        again = "n = t.with_columns(n=expr('TRY_CAST(s AS int64)')).stage('n')\nn.collect()"
        for _ in range(2):
            assert kernel.text(again) == (
                "    a  s           n\nint64  string  int64\n    1  1           1\n    2  2           2\n    3  x        null\n"
                "(3 rows)"
            )
        assert kernel.text("n.write_parquet('out', 'out.parquet')\np.run(write=False)['n'].to_arrow().num_rows") == "3"
        assert kernel.text("del p.stages['n']\np.stages") == "<stages: none>"
        assert not (tmp_path / "out.parquet").exists()
        shown = kernel.run("t.filter(col('a') > 1)")
        assert set(shown[0]["data"]) == {"text/plain", "text/html"}
