"""What to write for the types of DuckDB that the language does not have."""

_WHOLE = "Write decimal(38,0), the largest whole numbers of gpuetl."
_ZONES = "A time of day has no zone: write time, or timestamptz with a date."
_MICROSECONDS = "Write timestamp: gpuetl has timestamps in microseconds, and reads those of files so."
MISSING_TYPES = {
    **dict.fromkeys(("uhugeint", "uint128", "bignum"), _WHOLE),
    **dict.fromkeys(("timetz", "time with time zone"), _ZONES),
    **dict.fromkeys(("timestamp_s", "timestamp_ms"), _MICROSECONDS),
    "time_ns": "Write time, in microseconds.",
    "timestamptz_ns": "Write timestamptz, in microseconds, or timestamp_ns.",
    "bit": "Write int64, with the operators & | ~ << >>, or binary.",
    "json": "A column of JSON is a string: write string, or CAST(x AS json) in an expression.",
    "variant": "Write string, with JSON in it, or a struct.",
}
