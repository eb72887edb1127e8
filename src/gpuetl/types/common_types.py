"""The type in which nested types meet, at any depth."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.types.data_types import NULL, DataType, common_type
from gpuetl.types.nested_types import field_names, field_type, is_list, is_map, is_nested, is_struct


def common_nested(left: DataType, right: DataType) -> DataType | None:
    """Return the type in which values of two types are compared or mixed; None where they do not meet.

    Structs have the same names of fields, in any order.
    """
    if left == right or NULL in (left, right):
        return right if left == NULL else left
    if is_list(left) and is_list(right):
        element = common_nested(left.value_type, right.value_type)
        return None if element is None else pa.list_(element)
    if is_map(left) and is_map(right):
        item = common_nested(left.item_type, right.item_type)
        return pa.map_(left.key_type, item) if item is not None and left.key_type == right.key_type else None
    if is_struct(left) and is_struct(right):
        if set(field_names(left)) != set(field_names(right)):
            return None
        fields = [(field.name, common_nested(field.type, field_type(right, field.name))) for field in left]
        return None if any(dtype is None for _, dtype in fields) else pa.struct(fields)
    return None if is_nested(left) or is_nested(right) else common_type(left, right)
