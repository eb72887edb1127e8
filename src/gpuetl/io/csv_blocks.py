r"""The bytes of a CSV file in blocks that do not end between \r and \n."""

from __future__ import annotations

import io

from gpuetl.io.open_file import OpenFile


class CsvBlocks(io.RawIOBase):
    r"""A file whose reads never end with the \r of a \r\n.

    Arrow drops a \n at the start of a block if the block before it ends with \r.  Inside of a field in quotes that \n
    belongs to the value, so the value would silently lose it.
    """

    def __init__(self, source: OpenFile) -> None:
        self.file = source.open()
        self.kept = b""

    def readable(self) -> bool:
        """Return true."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, and none at the end of the file; `size` is 2 or more."""
        data = self.kept + self.file.read(max(-1, size - len(self.kept)))
        self.kept = b""
        if len(data) > 1 and data.endswith(b"\r"):
            data, self.kept = data[:-1], b"\r"
        return data

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        super().close()
