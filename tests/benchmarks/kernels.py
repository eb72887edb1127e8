"""The kernels of examples/kernels, timed as `gpuetl kernel bench` does: naive, optimised and fused ones.

    python tests/benchmarks/kernels.py [--rows 1e4,1e6,1e8] [--seconds 0.3] [--cpu-seconds 1] [--limit 40] [--only stencil]
                                       [--results FILE]

Each kernel equals its twin: `gpuetl kernel check`.  After --limit seconds the largest size is left out, and after twice
as long no further kernel is begun.  A size whose twin would take more than --cpu-seconds is not computed on the CPU.
--only measures some examples again, in a FILE of the same day and device, whose other results stay.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environment import described
from suites.results import gpu

from gpuetl.cli.kernel import chosen_kernels, the_machine
from gpuetl.cli.kernel_bench import memory_rate, row_counts
from gpuetl.kernels.bench.device import device_limits
from gpuetl.kernels.bench.kernel_bench import bench_kernel
from gpuetl.pipeline import load

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "kernels"
NAMES = ("vector_add", "reduction", "stencil", "monte_carlo", "histogram")


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=row_counts, default=(10_000, 1_000_000, 100_000_000))
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--cpu-seconds", type=float)
    parser.add_argument("--limit", type=float, default=float("inf"))
    parser.add_argument("--only", type=lambda text: text.split(","), default=NAMES)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    result = {
        "benchmark": "kernel-examples",
        **described(["gpuetl", "cupy-cuda12x", "cupy-cuda13x", "numpy"]),
        **measured(given.only, given.rows, given.seconds, given.cpu_seconds, given.limit),
    }
    result["hardware"] |= gpu()
    path = given.results or HERE / "results" / f"kernel-examples-{result['date']}.json"
    if given.only is not NAMES and path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if differing := [key for key in ("date", "hardware", "seconds", "versions") if result[key] != before[key]]:
            path = path.with_suffix(".part.json")
            print(f"{', '.join(differing)} differ from those before, so the results stay apart")
        else:
            result = with_others(result, before)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}")


def with_others(result: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the result with those of examples that were not measured again."""
    merged = {**before["examples"], **result["examples"]}
    left_out = [text for text in before["left_out"] if text.partition(",")[0] not in result["examples"]]
    examples = {name: merged[name] for name in NAMES if name in merged}
    return {**result, "device": before["device"], "examples": examples, "left_out": [*left_out, *result["left_out"]]}


def measured(
    names: Sequence[str], sizes: tuple[int, ...], seconds: float, cpu_seconds: float | None, limit_s: float
) -> dict[str, Any]:  # fmt: skip
    """Return the times of all examples, those that were begun within the limits."""
    start, machine = time.perf_counter(), the_machine("kernel bench")

    def passed_s() -> float:
        return time.perf_counter() - start

    device = device_limits(machine, memory_rate(machine))
    print(f"device: {passed_s():.1f} s", flush=True)
    examples, left_out = dict[str, list[Any]](), list[str]()
    for name in names:
        plan = load(EXAMPLES / f"{name}.yaml").plan({})
        for kernel in chosen_kernels(plan, None):
            title, begun = f"{name}, {kernel.origin.name}", passed_s()
            if begun > 2 * limit_s:
                left_out.append(title)
                continue
            if begun > limit_s and len(sizes) > 1:
                left_out.append(f"{title}, {sizes[-1]:,} rows")
            chosen = sizes if begun <= limit_s else sizes[:-1] or sizes
            timed = bench_kernel(plan, kernel, machine, device, chosen, seconds, cpu_seconds).as_json()
            examples.setdefault(name, []).append({**timed, "file": Path(timed["file"]).name})
            print(f"{title}: {passed_s() - begun:.1f} s, {passed_s():.1f} s in all", flush=True)
    return {"device": vars(device), "seconds": seconds, "examples": examples, "left_out": left_out}


if __name__ == "__main__":
    main()
