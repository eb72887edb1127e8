"""What a process has open."""

from contextlib import suppress
from pathlib import Path


def open_files() -> set[str]:
    """Return the files that the process has open, also those without a name; files of the system are left out."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # another thread has closed it meanwhile
            found.add(str(descriptor.readlink()))
    return {name for name in found if name.startswith("/") and not name.startswith(("/proc/", "/sys/", "/dev/"))}
