"""What a kernel's CUDA source declares, checked against the pipeline before anything runs.  Needs no GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property

import pyarrow as pa

from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, type_name
from gpuetl.user_kernels.cuda_headers import COMMENTS, HeaderProblem, with_headers

C_TYPES: dict[str, DataType] = {
    "double": pa.float64(), "float": pa.float32(),
    "long long": pa.int64(), "long long int": pa.int64(), "long": pa.int64(), "int64_t": pa.int64(),
    "int": pa.int32(), "int32_t": pa.int32(), "short": pa.int16(), "int16_t": pa.int16(),
    "signed char": pa.int8(), "int8_t": pa.int8(),
    "unsigned long long": pa.uint64(), "uint64_t": pa.uint64(),
    "unsigned": pa.uint32(), "unsigned int": pa.uint32(), "uint32_t": pa.uint32(),
    "unsigned short": pa.uint16(), "uint16_t": pa.uint16(), "unsigned char": pa.uint8(), "uint8_t": pa.uint8(),
    "bool": pa.bool_(),
}  # fmt: skip
_QUALIFIERS = re.compile(r"\b(const|volatile|__restrict__|__restrict|restrict)\b")


class KernelMismatch(Exception):
    """A kernel whose source, twin or declaration do not fit each other; worded for the user, without the place."""


@dataclass(frozen=True)
class CParameter:
    """One parameter of a CUDA function: its element type, None where unknown, and whether it is a pointer."""

    name: str
    dtype: DataType | None
    pointer: bool
    text: str


@dataclass(frozen=True)
class KernelContract:
    """A CUDA entry point and its NumPy twin, by path.

    The C parameters come in the order inputs (`const T*`), outputs (`U*`), args (by value), for groups
    `const int* offsets` and `int n_groups`, for tables `const long long* starts` and `int* counts`, then
    `long long n_rows`; with masks, validity words follow each array.
    `twin` is the text of the twin's file when the pipeline was planned: all partitions are computed by one text.
    `flops_per_row` is the arithmetic that the user declares for `gpuetl kernel bench`, 0 where there is no such key.
    """

    cuda: FilePath
    entry: str
    reference: FilePath
    function: str
    twin: bytes | None = field(default=None, repr=False, compare=False)
    flops_per_row: int = field(default=0, compare=False)

    @cached_property
    def source(self) -> str:
        """The text of the CUDA file, and of the headers that it includes, as they were when it was first asked for."""
        try:
            return with_headers(self.cuda)
        except HeaderProblem as error:
            raise KernelMismatch(*error.args) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise KernelMismatch(coded("GE1301", f"cannot read {self.cuda}: {reason}")) from None

    @cached_property
    def parameters(self) -> tuple[CParameter, ...]:
        """The parameters of the entry point, from its declaration."""
        source = COMMENTS.sub(" ", self.source)
        declared = re.findall(r"__global__[^;{]*?\bvoid\b[^;{]*?(\w+)\s*\(([^)]*)\)\s*[{;]", source)
        parameters = dict(declared).get(self.entry)
        if parameters is None:
            have = ", ".join(name for name, _ in declared) or "none"
            raise KernelMismatch(coded("GE1301", f"{self.cuda.name} has no kernel '{self.entry}'.  It has: {have}"))
        return tuple(_parse_parameter(text) for text in parameters.split(",") if text.strip())

    def check(
        self,
        inputs: Mapping[str, DataType],
        outputs: Mapping[str, DataType],
        arguments: Sequence[str],
        groups: bool,
        masks: bool,
        table: bool = False,
    ) -> None:
        """Compare the declaration with the columns that the kernel gets; raise `KernelMismatch` where they differ."""
        expected = list(expected_parameters(inputs, outputs, arguments, groups, masks, table))
        got = self.parameters
        if len(got) != len(expected):
            order = ", ".join(what for what, _, _ in expected)
            raise KernelMismatch(
                coded(
                    "GE1302",
                    f"kernel '{self.entry}' has {len(got)} parameters, the step gives {len(expected)}: {order}",
                )
            )
        for parameter, (what, dtype, pointer) in zip(got, expected, strict=True):
            self._check_one(parameter, what, dtype, pointer)

    def check_block(self, block: int) -> None:
        """Compare the threads of a block with the kernel's `__launch_bounds__`; raise `KernelMismatch` for more."""
        source = COMMENTS.sub(" ", self.source)
        bounds = re.search(rf"__launch_bounds__\s*\(\s*(\d+)[^;{{]*?\b{self.entry}\s*\(", source)
        if bounds and block > int(bounds[1]):
            found = f"kernel '{self.entry}' has __launch_bounds__({bounds[1]}), and block is {block}"
            raise KernelMismatch(coded("GE1302", f"{found}.  Set block: {bounds[1]}, or declare more"))

    def _check_one(self, parameter: CParameter, what: str, dtype: DataType | None, pointer: bool) -> None:
        if parameter.pointer != pointer:
            form = "a pointer" if pointer else "passed by value"
            raise KernelMismatch(
                coded("GE1302", f"kernel '{self.entry}': {what} must be {form}, but the source has '{parameter.text}'")
            )
        if dtype is not None and parameter.dtype != device_type(dtype):
            wanted = type_name(parameter.dtype) if parameter.dtype else f"'{parameter.text}'"
            fix = f"Cast it, or declare {type_name(device_type(dtype))} in the kernel"
            raise KernelMismatch(
                coded("GE1302", f"kernel '{self.entry}': {what} must be {wanted}, got {type_name(dtype)}.  {fix}")
            )


def device_type(dtype: DataType) -> DataType:
    """Return the type of a column's values as a kernel sees them: times are integers of their unit.

    Raises
    ------
    KernelMismatch
        For types that have no array of numbers, such as strings.
    """
    if pa.types.is_timestamp(dtype) or pa.types.is_duration(dtype):
        return pa.int64()
    if pa.types.is_date(dtype):
        return pa.int32()
    if dtype in C_TYPES.values():
        return dtype
    raise KernelMismatch(
        coded("GE1302", f"a {type_name(dtype)} column cannot reach a kernel; number, time and bool columns can")
    )


def expected_parameters(
    inputs: Mapping[str, DataType],
    outputs: Mapping[str, DataType],
    arguments: Sequence[str],
    groups: bool,
    masks: bool,
    table: bool = False,
) -> Iterator[tuple[str, DataType | None, bool]]:
    """Yield what a kernel gets, in order: in words, its type if it is known, and whether it is a pointer."""
    for role, arrays in (("input", inputs), ("output", outputs)):
        for name, dtype in arrays.items():
            yield f"{role} '{name}'", dtype, True
            if masks:
                yield f"the validity words of '{name}'", pa.uint32(), True
    for name in arguments:
        yield f"argument '{name}'", None, False
    if groups:
        yield "offsets", pa.int32(), True
        yield "n_groups", pa.int32(), False
    if table:
        yield "starts", pa.int64(), True
        yield "counts", pa.int32(), True
    yield "n_rows", pa.int64(), False


def _parse_parameter(text: str) -> CParameter:
    words = _QUALIFIERS.sub(" ", text).replace("*", " * ").split()
    pointer = "*" in words
    words = [word for word in words if word != "*"]
    return CParameter(words[-1], C_TYPES.get(" ".join(words[:-1])), pointer, " ".join(text.split()))
