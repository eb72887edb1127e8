"""Compiles the closed set into the package, for the wheels of a release: `make kernels`."""

from __future__ import annotations

import shutil
import zlib

from gpuetl.engines.cudf.kernel_build import build, find_nvrtc, jobs_of
from gpuetl.engines.cudf.machine_code import SHIPPED, Target
from gpuetl.engines.cudf.programs import closed_set

ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")


def main() -> None:
    """Replace what the package has; print what each architecture takes, on disk and compressed as in a wheel."""
    nvrtc = find_nvrtc()
    shutil.rmtree(SHIPPED, ignore_errors=True)
    targets = [Target(name, nvrtc.compiler) for name in ARCHITECTURES]
    jobs = jobs_of(closed_set(), targets, lambda program, target: target.shipped(program.text))
    built = build(jobs, nvrtc.start, lambda done, of, architecture, seconds: None)
    for target in targets:
        codes = [job.path.read_bytes() for job in jobs if job.target == target]
        disk, wheel = sum(map(len, codes)), sum(len(zlib.compress(code)) for code in codes)
        print(f"{target.architecture}: {len(codes)} programs, {disk:,} bytes on disk, {wheel:,} in a wheel")
    print(f"{built.compiled} programs in {built.seconds:.1f} s, by NVRTC {nvrtc.compiler.version}, in {SHIPPED}")


if __name__ == "__main__":
    main()
