"""`gpuetl kernel bench`: how fast a pipeline's kernels are, and when they pay."""

from __future__ import annotations

import json as json_module
from argparse import ArgumentTypeError
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpuetl.cli.arguments import Params, add_command, add_kernel_timeout

if TYPE_CHECKING:
    from gpuetl.cli.arguments import Commands
    from gpuetl.kernels.bench.device import DeviceLimits
    from gpuetl.kernels.bench.function_bench import FunctionBench, FunctionTimes
    from gpuetl.kernels.bench.kernel_bench import KernelBench, SizeTimes
    from gpuetl.kernels.bench.kernel_clock import Seconds
    from gpuetl.places.paths import FilePath

TIMEOUT_S = 60.0
HEADS = (
    "rows", "kernel ms", "median", "GB/s", "of device", "Gflop/s", "of peak", "step ms", "median", "with copies",
    "twin on CPU", "in pipeline", "on CPU",
)  # fmt: skip
NONE = "-"


def add_bench(commands: Commands) -> None:
    """Add the command to those of `gpuetl kernel`."""
    command = add_command(commands, bench)
    command.add_argument("--stage", metavar="STAGE", help="time the kernels of this stage alone")
    command.add_argument(
        "--rows", metavar="LIST", type=row_counts, help="sizes, such as 1e6,1e8; default: 10000,1000000,10000000"
    )
    command.add_argument(
        "--seconds", metavar="SECONDS", type=float, default=2.0, help="for each measurement; default: 2"
    )
    add_kernel_timeout(command, TIMEOUT_S)
    command.add_argument("--json", action="store_true", help="print the times as JSON")


def row_counts(text: str) -> tuple[int, ...]:
    """Read a list of numbers of rows."""
    try:
        counts = tuple(sorted(int(float(part)) for part in text.split(",")))
    except (ValueError, OverflowError):
        raise ArgumentTypeError(f"'{text}' is not a list of numbers such as 1e6,1e8") from None
    if counts[0] < 1:
        raise ArgumentTypeError(f"a size has at least 1 row, got {counts[0]}")
    return counts


def bench(
    file: FilePath,
    params: Params = (),
    root: FilePath | None = None,
    profile: str | None = None,
    stage: str | None = None,
    rows: Sequence[int] | None = None,
    seconds: float = 2.0,
    kernel_timeout: float = TIMEOUT_S,
    json: bool = False,
) -> None:
    """Time each kernel at several sizes, and say when it pays.

    The rows are those of the pipeline, a million at most, repeated up to each size.  On the GPU, a CUDA or Triton
    kernel is timed alone, as a step, and as a step with copies to the device and back.  Its twin is timed on the CPU.
    The part of the pipeline around the kernel is timed on both.  The first run does not count, unless it takes 20
    times `seconds`.  Bytes are those of the declared columns.  The rate of the device's memory is measured, that of its
    arithmetic is nominal.

    Of a Python function over frames, each size is a partition.  The calls of the function are timed, the step, and the
    part of the pipeline.  Functions over pandas and Arrow frames need no GPU.
    """
    from gpuetl.cli.kernel import chosen_kernels, the_machine
    from gpuetl.engines.registry import look_for_gpu
    from gpuetl.kernels.bench.device import device_limits
    from gpuetl.kernels.bench.function_bench import bench_function
    from gpuetl.kernels.bench.kernel_bench import SIZES, bench_kernel
    from gpuetl.kernels.check.kernel_check import needs_gpu
    from gpuetl.pipeline import load
    from gpuetl.plan.nodes import PythonKernel
    from gpuetl.user_kernels.kernel_options import KernelOptions, kernel_options

    plan = load(file, root, profile=profile).plan(dict(params))
    kernels = chosen_kernels(plan, stage)
    if not kernels:
        print(json_module.dumps({"device": None, "kernels": []}) if json else "the pipeline has no kernels")
        return
    machine = device = None
    if any(map(needs_gpu, kernels)) or not look_for_gpu().problem:
        machine = the_machine("kernel bench")
        device = device_limits(machine, memory_rate(machine))

    def times_of(kernel: Any) -> KernelBench | FunctionBench:
        if isinstance(kernel, PythonKernel):
            return bench_function(plan, kernel, machine, device.name if device else "", rows or SIZES, seconds)
        assert machine is not None
        assert device is not None
        return bench_kernel(plan, kernel, machine, device, rows or SIZES, seconds)

    with plan.pointing(), kernel_options(KernelOptions(kernel_timeout)):
        done = [times_of(kernel) for kernel in kernels]
    print(as_json(done, device) if json else as_text(done))


def memory_rate(machine: Any) -> float | None:
    """Return the highest rate of the device's memory, as `gpuetl bench device` measured it, or measured now."""
    from gpuetl.bench import memory_limits
    from gpuetl.engines.measured_limits import load_limits
    from gpuetl.telemetry.hardware_limits import HardwareLimits

    limits = load_limits("GPU")
    found = limits.highest("device memory") if limits else None
    found = found or HardwareLimits("", tuple(memory_limits(machine))).highest("device memory")
    return found.bytes_per_s if found else None


def as_json(done: Sequence[KernelBench | FunctionBench], device: DeviceLimits | None) -> str:
    """Return the times as JSON."""
    limits = vars(device) if device else None
    return json_module.dumps({"device": limits, "kernels": [one.as_json() for one in done]}, indent=2, default=str)


def as_text(done: Sequence[KernelBench | FunctionBench]) -> str:
    """Return the times for people."""
    from gpuetl.kernels.bench.function_bench import FunctionBench

    return "\n\n".join(
        "\n".join(function_lines(one) if isinstance(one, FunctionBench) else lines_of(one)) for one in done
    )


def lines_of(one: KernelBench) -> list[str]:
    """Return what is known of a kernel, a table of its times, and when it pays."""
    work, device = one.work, one.device
    facts = [f"{work.read_bytes:g} B read and {work.written_bytes:g} B written a row"]
    if work.flops_per_row is not None:
        facts.append(f"{work.flops_per_row:g} operations a row ({work.flops_by})")
    else:
        facts.append("arithmetic is not counted: the text does not tell it, flops_per_row does")
    limits = [device.name]
    if device.memory_bytes_per_s:
        limits.append(f"memory {device.memory_bytes_per_s / 1e9:,.0f} GB/s (measured)")
    if one.peak_per_s:
        limits.append(f"{one.float_type} {one.peak_per_s / 1e12:,.1f} Tflop/s (nominal)")
    return [
        f"stage '{one.stage}', step {one.step}: kernel '{one.kernel}' ({one.file})",
        f"  {'; '.join(facts)}",
        f"  {'; '.join(limits)}",
        f"  in the pipeline: {one.neighbours}",
        f"  one row takes {overhead(one.one_row)}",
        *table_lines([HEADS, *(row_of(one, size) for size in one.sizes)]),
        f"  {verdict(one)}",
    ]


def table_lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table whose columns end below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]


def overhead(size: SizeTimes) -> str:
    """Say what a launch costs at least: the step and the kernel of one row."""
    step = f"{size.step.least * 1e6:,.0f} µs as a step" if size.step else "no time"
    return f"{step}, {size.kernel.least * 1e6:,.1f} µs of them in the kernel" if size.kernel else step


def row_of(one: KernelBench, size: SizeTimes) -> tuple[str, ...]:
    """Return the line of a size."""
    if size.step is None:
        return (f"{size.source_rows:,}", "too large", *[NONE] * (len(HEADS) - 2))
    return (
        f"{size.rows:,}", ms(size.kernel), ms(size.kernel, median=True), giga(one.bytes_per_s(size)),
        percent(one.bandwidth_share(size)), giga(one.flops_per_s(size)), percent(one.peak_share(size)), ms(size.step),
        ms(size.step, median=True), ms(size.with_copies), ms(size.twin), ms(size.pipeline), ms(size.pipeline_on_cpu),
    )  # fmt: skip


def ms(seconds: Seconds | None, median: bool = False) -> str:
    """Return milliseconds with three digits."""
    if seconds is None:
        return NONE
    value = 1000 * (seconds.median if median else seconds.least)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def giga(rate: float | None) -> str:
    """Return a rate in thousand millions."""
    return NONE if rate is None else f"{rate / 1e9:,.0f}" if rate >= 1e10 else f"{rate / 1e9:.2g}"


def percent(part: float | None) -> str:
    """Return a part in percent."""
    return NONE if part is None else f"{part:.0%}" if part >= 0.01 else f"{part:.1%}"


def verdict(one: KernelBench) -> str:
    """Say from which of the sizes on the kernel is faster than its twin."""
    on_device, copied = one.pays_from(lambda size: size.step), one.pays_from(lambda size: size.with_copies)
    if on_device is None:
        return "at none of these sizes it is faster than its twin"
    text = f"faster than its twin from {on_device:,} rows on, where rows are on the device already"
    return f"{text}; from {copied:,} on with copies" if copied else f"{text}; with copies at none of these sizes"


# Python functions over frames.


def function_lines(one: FunctionBench) -> list[str]:
    """Return what is known of a function, a table of its times, and where the time goes."""
    from gpuetl.user_kernels.python_function import TITLES

    frames = TITLES[one.frame]
    elsewhere = "reference on CPU" if one.device else "on GPU"
    heads = (
        "rows", "calls", "function ms", "median", "step ms", "median", "rows/s", "MB in", "MB out", "in pipeline",
        *([elsewhere] if any(size.elsewhere for size in one.sizes) else []),
    )  # fmt: skip
    return [
        f"stage '{one.stage}', step {one.step}: function '{one.kernel}' ({one.file})",
        f"  over {frames} frames of {'a group' if one.grouped else 'a partition'}, on {one.device or 'the CPU'}",
        f"  in the pipeline: {one.neighbours}",
        f"  one row takes {function_overhead(one.one_row)}",
        *table_lines([heads, *(function_row(size, len(heads)) for size in one.sizes)]),
        f"  {function_verdict(one)}",
    ]


def function_row(size: FunctionTimes, columns: int) -> tuple[str, ...]:
    """Return the line of a size."""
    if size.step is None:
        return (f"{size.source_rows:,}", "left out", *[NONE] * (columns - 2))
    cells = (
        f"{size.rows:,}", f"{size.calls:,}", ms(size.function), ms(size.function, median=True), ms(size.step),
        ms(size.step, median=True), f"{size.rows_per_s or 0:,.0f}", mega(size.read_bytes), mega(size.written_bytes),
        ms(size.pipeline), ms(size.elsewhere),
    )  # fmt: skip
    return cells[:columns]


def mega(count: int) -> str:
    """Return bytes in millions."""
    return f"{count / 1e6:,.0f}" if count >= 1e7 else f"{count / 1e6:.2g}"


def function_overhead(size: FunctionTimes) -> str:
    """Say what a step of one row takes."""
    step = f"{size.step.least * 1e6:,.0f} µs as a step" if size.step else "no time"
    return f"{step}, {size.function.least * 1e6:,.0f} µs of them in the function" if size.function else step


def function_verdict(one: FunctionBench) -> str:
    """Say how much of the step the function takes, and from which size on a GPU pays."""
    last = next((size for size in reversed(one.sizes) if size.step and size.function), None)
    if last is None or last.step is None or last.function is None:
        return "nulls left no row for the function" if any(size.step for size in one.sizes) else "no size was timed"
    share = last.function.median / last.step.median
    text = f"at {last.rows:,} rows the function takes {share:.0%} of the step; frames, order and checks take the rest"
    if not one.device:
        return text
    pays = one.pays_from
    return f"{text}; {f'faster than its reference from {pays:,} rows on' if pays else 'its reference is faster'}"
