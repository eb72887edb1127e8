"""Renders docs/kernel-examples.md: the kernels of examples/kernels, and what they were measured to take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from render_text import conditions, table

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
SECTIONS = {
    "vector_add": ("Vector add", """\
Little arithmetic for each byte: memory limits it. What counts is how often a row crosses the memory's link.

- *Naive*: a kernel in a file, one row a thread. Both columns have nulls, and such a kernel does not see them. So gpuetl takes
  the whole rows out before it, and puts the results back after it.
- *Optimised*: an elementwise kernel. gpuetl reads and writes the nulls in the same pass.
- *Fused*: the comparison that follows is part of the kernel. It writes one byte a row."""),
    "reduction": ("Reduction", """\
Many rows become one.

- *Naive*: a kernel over groups, one thread a group. The rows must be sorted, and few threads do all of the work.
- *Optimised*: a reduction kernel. gpuetl splits groups into chunks for warps, and needs no order.
- *Fused*: the square is part of the kernel, in `map`. No column of squares is written and read again."""),
    "stencil": ("Stencil over ordered rows", """\
Each row needs its neighbours in the order of its group. The step sorts the rows, which takes longer than the kernel: `step` has
the sort, `kernel` has not. A block computes a group. These are 35 groups, too few for the 132 multiprocessors of an H200.

- *Naive*: each of 256 threads reads its 17 values from global memory. Most come from the cache.
- *Optimised*: 1,024 threads read a tile into shared memory, then their 17 values from there.
- *Fused*: the cast and the difference to the mean are part of the kernel."""),
    "monte_carlo": ("Monte Carlo", """\
Much arithmetic for each byte: 64 random numbers for a row. Here a GPU pays most. The numbers come from a hash of the row, so the
result is the same in every run and on every engine.

- *Naive*: each normal number costs a logarithm, a root and a sine or cosine.
- *Optimised*: a logarithm and a root give two numbers.
- *Fused*: the kernel gives the answer that the next step needs, and skips the simulation where the answer is certain."""),
    "histogram": ("Histogram", """\
Many rows add to few counters, and wait for each other there. The kernel is of kind `table`: each partition gives a row for each
bin, and `aggregate` adds the partitions up.

- *Naive*: each thread adds to the counters in global memory.
- *Optimised*: each block counts in shared memory, then adds its counts to those in global memory.
- *Fused*: the cast is part of the kernel. It reads four bytes a row, and no column is written before it."""),
}  # fmt: skip
HEAD = """# Kernels by example

One complete example for each kind of kernel. Each has a naive, an optimised and a fused version, which give the same rows. They
are the files of `examples/kernels`, and run on the flights of this repository. Start in its root:

```console
$ gpuetl run examples/kernels/stencil.yaml           # not run here
$ gpuetl kernel check examples/kernels/stencil.yaml  # not run here
$ gpuetl kernel bench examples/kernels/stencil.yaml  # not run here
```

Without a GPU, `run` computes the twins on the CPU, and the rows are the same. `check` and `bench` need a GPU.

[When a kernel pays](kernels.md#when-a-kernel-pays) says what the columns of the tables mean. `python tests/benchmarks/kernels.py`
measures all examples on the GPU of a machine, and `python tests/benchmarks/render.py` writes this page from the result.
"""
HEADS = (
    "version", "rows", "kernel ms, least and median", "GB/s", "of device", "Gflop/s", "of peak", "step ms", "with copies ms",
    "twin on CPU ms", "stage ms", "stage on CPU ms",
)  # fmt: skip
NOT_MEASURED = "No numbers yet. `python tests/benchmarks/kernels.py` measures them on a machine with a GPU."
LANGUAGES = {".yaml": "yaml", ".cu": "cuda", ".py": "python"}


def kernels_page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page; `results` is the newest result, or nothing."""
    lines = [HEAD]
    if results:
        lines += [limits_of(results[0]), ""]
    for name, (title, text) in SECTIONS.items():
        lines += [f"## {title}", "", text, "", *times_of(name, results)]
        for suffix, language in LANGUAGES.items():
            file = EXAMPLES / f"{name}{suffix}"
            if file.exists():
                code = file.read_text(encoding="utf-8")
                lines += [f"`examples/kernels/{file.name}`:", "", f"```{language}", code.rstrip("\n"), "```", ""]
    return "\n".join(lines)


def limits_of(result: dict[str, Any]) -> str:
    """Say on what was measured, and what the device can do."""
    device = result["device"]
    memory = f"Its memory carries {device['memory_bytes_per_s'] / 1e9:,.0f} GB/s (measured)"
    peaks = [
        f"{device[key] / 1e12:,.1f} Tflop/s in {name} (nominal)"
        for key, name in (("float64_per_s", "float64"), ("float32_per_s", "float32"))
        if device[key]
    ]
    return (
        f"Measured {conditions(result)}. {'; '.join([memory, *peaks])}. Times are the least of several warm runs, "
        f"or of one run where one takes more than {result['seconds']} s."
    )


def times_of(name: str, results: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table of an example, with a line for each version and size."""
    kernels = results[0]["examples"].get(name, []) if results else []
    if not kernels:
        return [NOT_MEASURED, ""]
    return [*table(HEADS, (line for kernel in kernels for line in lines_of(kernel))), *notes_of(kernels)]


def lines_of(kernel: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each size that fitted the memory."""
    for size in kernel["sizes"]:
        if size["step"] is None:
            continue
        cells = (
            kernel["stage"], f"{size['rows']:,}", f"{ms(size['kernel'])}, {ms(size['kernel'], 'median_s')}",
            rate(size["bytes_per_s"]), percent(size["bandwidth_share"]), rate(size["flops_per_s"]),
            percent(size["peak_share"]), ms(size["step"]), ms(size["with_copies"]), ms(size["twin"]), ms(size["pipeline"]),
            ms(size["pipeline_on_cpu"]),
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def notes_of(kernels: Sequence[dict[str, Any]]) -> list[str]:
    """Return what the tables count, and when each version pays."""
    lines = []
    for kernel in kernels:
        read, written = kernel["read_bytes_per_row"], kernel["written_bytes_per_row"]
        text = f"- *{kernel['stage']}*: {read:g} B read and {written:g} B written a row"
        if kernel["flops_per_row"]:
            text += f"; arithmetic of {kernel['flops_per_row']:g} a row ({kernel['flops_by']})"
        if kernel["one_row"]["kernel"]:
            text += f"; one row takes {kernel['one_row']['step']['min_s'] * 1e6:,.0f} µs as a step"
        if kernel["pays_from_rows"]:
            text += f"; faster than its twin from {kernel['pays_from_rows']:,} rows on"
        if kernel["pays_with_copies_from_rows"]:
            text += f", with copies from {kernel['pays_with_copies_from_rows']:,}"
        lines.append(f"{text}.")
    return [*lines, ""]


def ms(seconds: dict[str, Any] | None, key: str = "min_s") -> str:
    """Return milliseconds with three digits."""
    if seconds is None:
        return ""
    value = 1000 * seconds[key]
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rate(value: float | None) -> str:
    """Return a rate in thousand millions."""
    return "" if value is None else f"{value / 1e9:,.0f}" if value >= 1e10 else f"{value / 1e9:.2g}"


def percent(part: float | None) -> str:
    """Return a part in percent."""
    return "" if part is None else f"{part:.0%}" if part >= 0.01 else f"{part:.1%}"
