"""Entries of machine code: their names say all that they depend on, and damage is noticed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gpuetl.engines.cudf.codegen import machine_code
from gpuetl.engines.cudf.codegen.machine_code import (
    Compiler,
    Target,
    by_ptx,
    read_entry,
    read_mark,
    write_entry,
    write_mark,
)
from gpuetl.engines.cudf.codegen.nvrtc import user_options

TARGET = Target("sm_90", Compiler((12, 9), 106_244_480))


def names_in(folder):
    """Return the names of what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_nvrtc_is_asked_for_less_where_it_can_leave_something_out():
    assert replace(TARGET, compiler=Compiler((12, 8))).apart_options() == TARGET.options()
    assert replace(TARGET, compiler=Compiler((13, 0))).apart_options() == (*TARGET.options(), "--minimal", "--no-cache")


def test_options_are_those_of_cupy_and_the_engine():
    """PTX is of a virtual architecture."""
    assert TARGET.options() == (
        "--std=c++17", "--device-int128", "-fmad=false", "-arch=sm_90", "--device-as-default-execution-space",
    )  # fmt: skip
    assert replace(TARGET, ptx=True).options(()) == ("-arch=compute_90", "--device-as-default-execution-space")


def test_a_name_depends_on_all_that_the_code_depends_on(monkeypatch):
    """The text, the options, the architecture, the compiler, what is made, and the entries' format."""
    names = [
        TARGET.name("x"),
        TARGET.name("y"),
        TARGET.name("x", ("-fmad=true",)),
        replace(TARGET, architecture="sm_80").name("x"),
        replace(TARGET, compiler=Compiler((12, 8), 106_244_480)).name("x"),
        replace(TARGET, compiler=Compiler((12, 9), 106_244_481)).name("x"),
        replace(TARGET, ptx=True).name("x"),
    ]
    monkeypatch.setattr(machine_code, "FORMAT", 0)
    names.append(TARGET.name("x"))
    assert len({name.partition(".")[0] for name in names}) == 8
    assert [name.partition(".")[2] for name in names] == [*["cubin"] * 6, "ptx", "cubin"]


def test_the_wheel_s_code_is_used_by_who_has_another_compiler(monkeypatch):
    """It depends on all the rest; there is no PTX in it."""
    shipped = TARGET.shipped("x")
    assert shipped.parent == machine_code.SHIPPED / "sm_90"
    assert replace(TARGET, compiler=Compiler((13, 0))).shipped("x") == shipped
    others = [TARGET.shipped("y"), replace(TARGET, architecture="sm_80").shipped("x")]
    assert len({shipped, *others, replace(TARGET, ptx=True).shipped("x")}) == 4


@pytest.mark.parametrize(("value", "ptx"), [("1", True), ("0", False), ("", False), ("yes", False), (None, False)])
def test_ptx_is_made_where_cupy_makes_it(monkeypatch, value, ptx):
    """By the same reading of the variable."""
    monkeypatch.delenv("CUPY_COMPILE_WITH_PTX", raising=False)
    if value is not None:
        monkeypatch.setenv("CUPY_COMPILE_WITH_PTX", value)
    assert by_ptx() is ptx


def test_the_size_of_a_compiler_tells_patch_releases_apart(tmp_path):
    """A library that is not known has none."""
    (tmp_path / "libnvrtc.so.12").write_bytes(bytes(7))
    assert Compiler.of((12, 9), str(tmp_path / "libnvrtc.so.12")) == Compiler((12, 9), 7)
    assert Compiler.of((12, 9), str(tmp_path / "none")) == Compiler((12, 9), 0)
    assert Compiler.of((12, 9), None).size == 0


def test_an_entry_is_read_as_it_was_written(tmp_path):
    """Its folder is made; nothing else is left there."""
    write_entry(tmp_path / "new" / "a.cubin", b"code")
    write_entry(tmp_path / "new" / "a.cubin", b"other")
    assert read_entry(tmp_path / "new" / "a.cubin") == b"other"
    assert names_in(tmp_path / "new") == ["a.cubin"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: b"",
        lambda entry: entry[:-1],
        lambda entry: entry[:20],
        lambda entry: entry + b"x",
        lambda entry: entry[:-1] + b"x",
        lambda entry: b"x" + entry[1:],
        lambda entry: b"\x7fELF" + entry,
        lambda entry: bytes(len(entry)),
    ],
    ids=["empty", "short", "head only", "long", "changed", "other head", "without a head", "zeros"],
)
def test_a_damaged_entry_is_none(tmp_path, damage):
    """However it came about."""
    path = tmp_path / "a.cubin"
    write_entry(path, b"\x7fELF code")
    path.write_bytes(damage(path.read_bytes()))
    assert read_entry(path) is None
    assert read_entry(tmp_path / "none") is None
    assert read_entry(tmp_path) is None


def test_an_entry_that_cannot_be_written_leaves_nothing(tmp_path):
    """Here because a folder has its name."""
    (tmp_path / "a.cubin").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_entry(tmp_path / "a.cubin", b"code")
    assert names_in(tmp_path) == ["a.cubin"]


def test_who_reads_an_entry_that_others_write_finds_all_of_it(tmp_path):
    """Or nothing, before the first one is done."""
    path, code = tmp_path / "a.cubin", bytes(300_000)
    with ThreadPoolExecutor(8) as threads:
        reads = [threads.submit(read_entry, path) for _ in range(5)]
        for _ in range(50):
            threads.submit(write_entry, path, code)
            reads.append(threads.submit(read_entry, path))
    found = [read.result() for read in reads]
    assert {one for one in found if one is not None} == {code}
    assert read_entry(path) == code
    assert names_in(tmp_path) == ["a.cubin"]


def test_a_mark_counts_while_all_its_entries_are_there(tmp_path):
    """Those of its folder, and those of the wheel."""
    folder, wheel, mark = tmp_path / "cache", tmp_path / "wheel", tmp_path / "cache" / "m.expected"
    entries = [folder / "a.cubin", wheel / "b.cubin"]
    for entry in entries:
        write_entry(entry, b"code")
    assert read_mark(mark) is None
    write_mark(mark, [*entries, entries[0]])
    assert mark.read_text() == f"a.cubin\n{wheel / 'b.cubin'}"
    assert read_mark(mark) == entries
    entries[0].unlink()
    assert read_mark(mark) is None


def test_a_mark_is_of_one_plan_and_of_this_text_of_gpuetl(monkeypatch):
    """Also while the version stays the same."""
    marks = [TARGET.mark("plan"), TARGET.mark("other"), replace(TARGET, architecture="sm_80").mark("plan")]
    monkeypatch.setattr(machine_code, "installed_text", lambda: "edited")
    assert len({*marks, TARGET.mark("plan")}) == 4


def test_the_digest_of_gpuetl_s_text_sees_an_edit(monkeypatch, tmp_path):
    """Of Python and of device code."""
    folder = tmp_path / "gpuetl" / "engines" / "cudf"
    folder.mkdir(parents=True)
    monkeypatch.setattr(machine_code, "PACKAGE", tmp_path / "gpuetl")
    found = set()
    for name, text in [("a.py", "1"), ("a.py", "12"), ("b.cuh", ""), ("c.cu", ""), ("d.md", "")]:
        (folder / name).write_text(text)
        found.add(machine_code.installed_text.__wrapped__())
    assert len(found) == 4


def test_a_cuda_file_has_the_options_of_cupy_s_raw_module(monkeypatch):
    """Folders of headers are there where it includes some."""
    monkeypatch.delenv("CUPY_CUDA_COMPILE_WITH_DEBUG", raising=False)
    assert user_options("// #include <cuda_fp16.h>\nvoid f();") == ("--std=c++17", "-ftz=true")
    first, *_, headers, last = user_options("  #  include <cuda_fp16.h>\n")
    assert "--std=c++17" in (first, *_)
    assert headers.startswith("-DGPUETL_HEADERS=")
    assert last == "-ftz=true"
    monkeypatch.setenv("CUPY_CUDA_COMPILE_WITH_DEBUG", "1")
    assert user_options("")[-2:] == ("--device-debug", "--generate-line-info")
