"""The kernels of examples/kernels, timed as `gpuetl kernel bench` does: naive, optimised and fused ones.

    python tests/benchmarks/kernels.py [--rows 1e4,1e6,1e8] [--seconds 0.3] [--limit 40] [--results FILE]

Each kernel equals its twin: `gpuetl kernel check`.  After --limit seconds no further kernel is begun.
"""

from __future__ import annotations

import argparse
import json
import time
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
    parser.add_argument("--limit", type=float, default=float("inf"))
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    result = {
        "benchmark": "kernel-examples",
        **described(["gpuetl", "cupy-cuda12x", "cupy-cuda13x", "numpy"]),
        **measured(given.rows, given.seconds, given.limit),
    }
    result["hardware"] |= gpu()
    path = given.results or HERE / "results" / f"kernel-examples-{result['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}")


def measured(sizes: tuple[int, ...], seconds: float, limit_s: float) -> dict[str, Any]:
    """Return the times of all examples, those that were begun within the limit."""
    start, machine = time.perf_counter(), the_machine("kernel bench")
    device = device_limits(machine, memory_rate(machine))
    examples, left_out = dict[str, list[Any]](), list[str]()
    for name in NAMES:
        plan = load(EXAMPLES / f"{name}.yaml").plan({})
        for kernel in chosen_kernels(plan, None):
            if time.perf_counter() - start > limit_s:
                left_out.append(f"{name}, {kernel.origin.name}")
                continue
            timed = bench_kernel(plan, kernel, machine, device, sizes, seconds).as_json()
            examples.setdefault(name, []).append({**timed, "file": Path(timed["file"]).name})
            print(f"{name}, {kernel.origin.name}: {time.perf_counter() - start:.1f} s", flush=True)
    return {"device": vars(device), "seconds": seconds, "examples": examples, "left_out": left_out}


if __name__ == "__main__":
    main()
