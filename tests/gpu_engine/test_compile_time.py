"""The benchmark of compilation prints what NVRTC says of its phases, by kinds of programs."""

import importlib
from pathlib import Path

import pytest

from gpu_engine import nvrtc
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.programs.plan_programs import Program, closed_set

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PHASES = """kern.cu, CUDA C++ Frontend, 20, ms
kern.cu, NVVM Optimizer, 100, ms
kern.cu, PTX Translation, 60, ms
kern.cu, PTX Translation, 20, ms
"""
TEXT = f"{headers_text(['rows.cuh', 'words.cuh'])}\nKERNEL compute(uint64_t* nulls) {{ add_nulls(nulls, 1); }}\n"


@pytest.fixture
def compile_time(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("compile_time")


@pytest.mark.parametrize("titles", ["", "File name, phase name, metric, unit\n"])
def test_phases_are_seconds_of_cpu_time(compile_time, titles):
    found = compile_time.phases_of(titles + PHASES, 0.5)
    assert found == {"front end": 0.01, "optimizer": 0.05, "assembler": 0.04}


def test_a_program_has_a_kind_headers_and_the_functions_that_it_calls(compile_time):
    assert compile_time.kind_of(Program("p.yaml", "kernel compute", TEXT)) == "expressions"
    assert compile_time.kind_of(Program("p.yaml", "kernel reduce, scan", "")) == "window"
    assert compile_time.kind_of(closed_set()[0]) == "closed"
    assert {"rows.cuh", "words.cuh"} <= set(compile_time.headers_of(TEXT))
    assert "regex.cuh" not in compile_time.headers_of(TEXT)
    assert compile_time.functions_of(TEXT) == ["add_nulls"]


@pytest.mark.skipif(nvrtc.library() is None, reason="needs NVIDIA's runtime compiler")
def test_programs_are_compiled_and_summed_by_kind(compile_time, capsys, tmp_path):
    program = Program("p.yaml", "kernel compute", TEXT)
    compile_time.print_all({("k",): (program, ["flights"])}, [], False, ["flights"], tmp_path / "found.json")
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split()[:2] == ["expressions", "1"]
    assert any(line.startswith("start of a process") for line in printed)
    assert '"functions": [' in (tmp_path / "found.json").read_text()
