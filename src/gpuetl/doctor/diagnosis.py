"""All findings and ailments of this machine, and which engines it can run."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

from gpuetl.doctor.finding import Ailment, Finding, Found
from gpuetl.doctor.gpus import gpu_findings
from gpuetl.doctor.packages import package_findings
from gpuetl.doctor.settings import setting_findings
from gpuetl.engines import driver, gpu_packages
from gpuetl.engines.registry import CLUSTER_PACKAGES, CLUSTERED, look_for_gpu
from gpuetl.records import dataclass
from gpuetl.version import __version__


@dataclass(frozen=True)
class Diagnosis:
    """What was found; `engines` has, for each engine, why it cannot run here, or nothing where it can."""

    engines: Mapping[str, str]
    findings: tuple[Finding, ...]
    ailments: tuple[Ailment, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return asdict(self)


def diagnose() -> Diagnosis:
    """Look at this machine; imports none of the packages that it tells the versions of."""
    found = list(all_found())
    ailments = tuple(item for item in found if isinstance(item, Ailment))
    stopped = "; ".join(ailment.problem for ailment in ailments if ailment.stops == "cudf")
    engines = {"pandas": "", "cudf": look_for_gpu().problem or stopped}
    engines |= {engine: missing_package(engine) or engines[CLUSTERED[engine]] for engine in CLUSTER_PACKAGES}
    return Diagnosis(
        engines=engines,
        findings=tuple(item for item in found if isinstance(item, Finding)),
        ailments=ailments,
    )


def missing_package(engine: str) -> str:
    """Say that the package of an engine's cluster is not installed; nothing where it is."""
    module, install = CLUSTER_PACKAGES[engine]
    package = module.replace("_", "-")
    return "" if find_spec(module) else f'{package} is not installed: pip install "{install}"'


def all_found() -> Iterator[Found]:
    """Yield all that was found, section by section."""
    asked = driver.find_driver()
    yield Finding("gpuetl", "version", f"{__version__}, Python {platform.python_version()} at {sys.executable}")
    yield Finding("gpuetl", "system", f"{platform.system()} {platform.release()} {platform.machine()}, "
                                      f"{os.cpu_count()} processors")  # fmt: skip
    yield from gpu_findings(asked)
    yield from package_findings(gpu_packages.installed(), gpu_packages.missing_modules(), asked)
    yield from setting_findings(has_gpu=bool(asked.gpus))
