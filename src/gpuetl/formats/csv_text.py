"""The text of a CSV file as UTF-8: unpacked, decoded, and read from any place on."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from gpuetl.formats.csv_options import CsvOptions
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError, refuse_change
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.paths import FilePath
from gpuetl.places.registry import filesystem_of

BLOCK_BYTES = 1 << 22
MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "bz2": b"BZh"}
"""How compressed files begin."""
MOST_BEHIND = 1 << 25
"""Bytes of a file that are kept for threads that read earlier pieces than another one."""
MOST_CURSORS = 8
"""Files that are open between two of their pieces."""


def blocks(source: OpenFile, options: CsvOptions, size: int = 0) -> Iterator[bytes]:
    """Yield the text of a file from its beginning, as UTF-8, in blocks of about `size` bytes, by default a few MiB.

    A byte order mark stays where the file is UTF-8.  Bytes that have no meaning in the file's encoding become bytes
    that are not UTF-8, so that their row is a bad one.

    Raises
    ------
    DatasetError
        For a compressed file that is damaged or cut off.
    """
    encoding, codec = options.encoding, options.codec(source.path.name)
    size = size or BLOCK_BYTES
    data = unpacked(source, codec, size) if codec else plain(source, size)
    if encoding == "utf-16":
        yield from from_utf_16(data, source.path)
    elif encoding == "latin-1":
        yield from (block if block.isascii() else block.decode("latin-1").encode() for block in data)
    elif encoding == "cp1252":  # five bytes stand for nothing: they stay as they are
        yield from (
            block if block.isascii() else block.decode("cp1252", "surrogateescape").encode("utf-8", "surrogateescape")
            for block in data
        )
    else:
        yield from data


def plain(source: OpenFile, size: int, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file, or of a part of it, in blocks of `size`."""
    stop = source.state.size if stop is None else stop
    while block := source.read_at(start, min(size, stop - start)):
        yield block
        start += len(block)


def unpacked(source: OpenFile, codec: str, block_bytes: int) -> Iterator[bytes]:
    """Yield the bytes of a compressed file; several archives one after another are one."""
    import pyarrow as pa

    lines = size = 0
    try:
        with pa.CompressedInputStream(source.for_arrow(), codec) as stream:
            while block := stream.read(block_bytes):
                yield block
                lines, size = lines + block.count(b"\n"), size + len(block)
    except OSError as error:
        if error.errno is not None:  # of the file itself
            raise
        raise damaged(source, codec, "Truncated" in str(error), lines, size) from None


def damaged(source: OpenFile, codec: str, cut_off: bool, lines: int, size: int) -> DatasetError:
    """Word a compressed file that cannot be unpacked to its end."""
    path = source.path
    if not source.read_at(0, len(MAGIC[codec])).startswith(MAGIC[codec]):
        hint = "Set compression: none if it is plain text."
        return DatasetError(coded("GE1432", f"{path} is not a {codec} file"), hint)
    what = "ends too early: it was cut off" if cut_off else "is damaged"
    message = f"{path}: the {codec} data {what} after line {lines + 1:,} ({size:,} bytes of text)"
    return DatasetError(coded("GE1432", message), "Copy the file again.  No row of it is read.")


def from_utf_16(data: Iterator[bytes], path: FilePath) -> Iterator[bytes]:
    """Yield UTF-16 text as UTF-8; a half of a pair of surrogates becomes bytes that are not UTF-8."""
    decoder = getincrementaldecoder("utf-16")("surrogatepass")
    for block in data:
        try:
            text = decoder.decode(block)
        except UnicodeDecodeError:
            raise
        except UnicodeError:  # of the first block
            message = f"{path}: the UTF-16 text does not begin with a byte order mark"
            hint = f"Convert it, such as by: iconv -f UTF-16LE -t UTF-8 {path.name} > utf-8.csv"
            raise DatasetError(coded("GE1403", message), hint) from None
        if text:  # an empty block would be taken for the end
            yield text.encode("utf-8", "surrogatepass")
    try:
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise DatasetError(coded("GE1403", f"{path}: the UTF-16 text ends in the middle of a character")) from None


class Cursor:
    """A file that is decoded once, from its beginning on, and whose text is read piece by piece."""

    def __init__(self, source: OpenFile, options: CsvOptions) -> None:
        self.source = filesystem_of(source.path).open(source.path)  # it stays open when the caller's file is closed
        try:
            refuse_change(source.path, source.state, self.source.state)
        except BaseException:
            self.source.close()
            raise
        self.blocks, self.rest, self.start = blocks(self.source, options), b"", 0
        self.behind = list[tuple[int, bytes]]()

    def has(self, start: int, stop: int) -> bool:
        """Tell whether a part of the text can be read without decoding anything twice."""
        return self.start <= start or any(at <= start and stop <= at + len(text) for at, text in self.behind)

    def read(self, start: int, stop: int) -> bytes:
        """Return a part of the text, which the cursor has.

        Up to `MOST_BEHIND` bytes that are passed over are kept: another thread will ask for them.
        """
        if start < self.start:
            return self.from_behind(start, stop)
        if start > self.start:
            size = start - self.start
            at, passed = self.start, self.forward(size, keep=self.start > 0 and size <= MOST_BEHIND)
            if passed:
                self.behind.append((at, passed))
        while sum(len(text) for _, text in self.behind) > MOST_BEHIND:
            self.behind.pop(0)
        return self.forward(stop - start, keep=True)

    def from_behind(self, start: int, stop: int) -> bytes:
        """Return a part that was passed over, and keep what is around it."""
        at, text = next(part for part in self.behind if part[0] <= start and stop <= part[0] + len(part[1]))
        self.behind.remove((at, text))
        around = ((at, text[: start - at]), (stop, text[stop - at :]))
        self.behind += [(place, rest) for place, rest in around if rest]
        return text[start - at : stop - at]

    def forward(self, size: int, keep: bool) -> bytes:
        """Pass `size` bytes, and return them if they are kept."""
        parts = list[bytes]()
        while size > 0:
            if not self.rest:
                self.rest = next(self.blocks, b"")
                if not self.rest:
                    break
            part, self.rest = self.rest[:size], self.rest[size:]
            self.start, size = self.start + len(part), size - len(part)
            if keep:
                parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        self.source.close()


Key = tuple[OpenFile, CsvOptions]


class Cursors:
    """The cursors of this process: a partition goes on where the one before it ended, without decoding twice."""

    def __init__(self) -> None:
        self.open: OrderedDict[Key, Cursor] = OrderedDict()
        self.busy: dict[Key, Lock] = {}
        self.lock = Lock()

    def read(self, source: OpenFile, options: CsvOptions, start: int, stop: int, last: bool) -> bytes:
        """Return a part of a file's text; one before what was read last is decoded from the beginning again.

        Threads that read one file wait for each other, so that each part goes on where the one before it ended.
        """
        key = source, options
        with self.lock:
            busy = self.busy.setdefault(key, Lock())
        with busy:
            cursor = self.taken(key, start, stop) or Cursor(source, options)
            try:
                text = cursor.read(start, stop)
            except BaseException:
                cursor.close()
                raise
            self.put_back(key, cursor, last and not cursor.behind)
        return text

    def taken(self, key: Key, start: int, stop: int) -> Cursor | None:
        """Return the cursor of a file if it has a part of the text, and close it if it does not."""
        with self.lock:
            cursor = self.open.pop(key, None)
        if cursor is None or cursor.has(start, stop):
            return cursor
        cursor.close()
        return None

    def put_back(self, key: Key, cursor: Cursor, last: bool) -> None:
        """Keep a cursor; close it if the file is read, and the one that was used least if there are too many."""
        closed = [cursor] if last else []
        with self.lock:
            if last:
                self.busy.pop(key, None)
            else:
                self.open[key] = cursor
            while len(self.open) > MOST_CURSORS:
                other, least = self.open.popitem(last=False)
                self.busy.pop(other, None)
                closed.append(least)
        for one in closed:
            one.close()


CURSORS = Cursors()


def text_between(source: OpenFile, options: CsvOptions, start: int, stop: int, last: bool) -> bytes:
    """Return a part of a file's text; `last` says that nothing after it will be read."""
    if not options.is_stream(source.path.name):
        return source.read_at(start, stop - start)
    return CURSORS.read(source, options, start, stop, last)
