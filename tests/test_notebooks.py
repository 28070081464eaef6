"""The example notebooks run from start to end, and show pictures and the paper's numbers beside ours."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

EXAMPLES = Path(__file__).parent.parent / "examples"
NUMBERS = {  # of the paper: states and edges
    "strings": {"states of the automaton": "561", "edges of the automaton": "1056"},
    "grid": {"states of the product": "6194", "edges of the product": "18762"},
}
PICTURES = {"strings": 3, "grid": 4}


def test_there_is_one_for_each_case_study() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == NUMBERS.keys()


@pytest.mark.parametrize("name", NUMBERS)
def test_notebooks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is reached by sockets in a directory: a port that is free now can be taken when the kernel starts."""
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)  # stored without outputs
    with TemporaryDirectory() as sockets:  # whose paths have to be short
        position = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        NotebookClient(notebook, config=position, startup_timeout=300).execute(cwd=str(tmp_path))
    shown = [output.get("data", {}) for cell in cells for output in cell.outputs]
    assert sum("image/png" in data for data in shown) == PICTURES[name]
    text = "\n".join(data.get("text/plain", "") for data in shown)
    for row, number in NUMBERS[name].items():
        assert re.search(rf"^{row} +{number} +{number}$", text, re.MULTILINE)
