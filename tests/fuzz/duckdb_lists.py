"""Functions of lists in DuckDB's SQL."""

from fuzz.duckdb_aggregates import exact_mean
from fuzz.duckdb_text import Text, canonical, constant_of
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.functions.ordering import is_order_text
from gpuetl.expressions.ir import Call, Expr, Lambda
from gpuetl.types.data_types import FLOAT64, STRING, is_floating

KNOWN = "list_filter({0}, lambda v: v IS NOT NULL)"
MOST_NUMBERS, COMMA = 1 << 24, "','"


def made(call: Call, *args: str) -> str:
    """A list of its type, also of no values."""
    return f"CAST([{', '.join(args)}] AS {sql_type(call.dtype)})"


def typed(text: str) -> Text:
    """A text whose result has another type in DuckDB."""
    return lambda call, *args: f"CAST({text.format(*args)} AS {sql_type(call.dtype)})"


def ordered(call: Call, x: str, *words: str) -> str:
    """Nulls come last unless they are first."""
    order, nulls = [str(constant_of(call, place)) for place in range(1, len(call.args))] + ["asc", "nulls last"][
        len(words) :
    ]
    return f"list_sort({x}, '{order}', '{nulls}')"


def mean(call: Call, x: str) -> str:
    """The exact mean, rounded once."""
    known = KNOWN.format(x)
    of_known = f"list_avg({x})" if is_floating(call.args[0].dtype.value_type) else exact_mean(call, known)
    return f"(CASE WHEN len({known}) > 0 THEN {of_known} END)"


def ranged(name: str) -> Text:
    """Beyond a number of elements there is none."""

    def text(call: Call, *args: str) -> str:
        start, stop, step = (("0", *args, "1") if len(args) == 1 else (*args, "1"))[:3]
        many = f"abs(CAST({stop} AS HUGEINT) - {start}) / abs({step}) >= {MOST_NUMBERS}"
        wanted = f"{step} <> 0 AND sign(CAST({stop} AS HUGEINT) - {start}) = sign({step})"
        return f"(CASE WHEN {wanted} AND {many} THEN error('too many') WHEN {step} = 0 AND {start} IS NOT NULL AND {stop} IS NOT NULL THEN [] ELSE {name}({start}, {stop}, {step}) END)"

    return text


def of_floats(name: str, more: str = "") -> Text:
    """Elements in float64."""
    return lambda call, *args: f"{name}({', '.join(f'CAST({x} AS {sql_type(FLOAT64)}[])' for x in args)}{more})"


def crossed(call: Call, *args: str) -> str:
    """Null elements give null elements."""
    x, y = (f"CAST({each} AS DOUBLE[])" for each in args)
    parts = (f"{x}[{a}] * {y}[{b}] - {x}[{b}] * {y}[{a}]" for a, b in ((2, 3), (3, 1), (1, 2)))
    given = " AND ".join(f"{each} IS NOT NULL" for each in args)
    checked = f"CASE WHEN len({x}) <> 3 OR len({y}) <> 3 THEN error('no size') ELSE [{', '.join(parts)}] END"
    return f"(CASE WHEN {given} THEN {checked} END)"


def repeated(call: Call, x: str, count: str) -> str:
    """Beyond a number of elements there is none."""
    beyond = f"len({x}) > 0 AND {count} > {MOST_NUMBERS} // len({x})"
    return f"(CASE WHEN {beyond} THEN error('no size') WHEN {x} IS NOT NULL THEN repeat({x}, {count}) END)"


def of_known(text: str, more: int = 0) -> Text:
    """A text of the elements that are not null, in float64; null of not more than so many."""

    def made(call: Call, x: str, *constants: str) -> str:
        known = f"list_sort({KNOWN.format(x)})"
        return f"(CASE WHEN len({known}) > {more} THEN {text.format(known, *constants)} END)"

    return made


def finite(function: str) -> str:
    """A moment, NaN where an element is infinite or NaN."""
    odd = "len(list_filter({0}, lambda v: NOT isfinite(v))) > 0"
    return f"CASE WHEN {odd} THEN CAST('nan' AS DOUBLE) ELSE {function}({{0}}) END"


def of_values(text: str) -> Text:
    """A text of the elements that are not null, with one zero and one NaN; null of a null list."""

    def made(call: Call, x: str) -> str:
        one = canonical("v", call.args[0].dtype.value_type)
        known = f"list_sort(list_transform({KNOWN.format(x)}, lambda v: {one}))"
        found = text.format(known)
        if not (has_order_texts(call.args[0]) and call.dtype == STRING):
            found = f"CAST({found} AS {sql_type(call.dtype)})"
        return f"(CASE WHEN {x} IS NOT NULL THEN {found} END)"

    return made


def has_order_texts(lists: Expr) -> bool:
    """Whether elements are texts in the place of nested values; in DuckDB they are these values."""
    function = lists.args[-1] if isinstance(lists, Call) and lists.args else None
    return isinstance(function, Lambda) and is_order_text(function.body)


def reduced(call: Call, x: str, function: str, *initial: str) -> str:
    """Begun with a value of the result's type."""
    typed_list = f"CAST({x} AS {sql_type(call.dtype)}[])" if not initial else x
    first = [f"CAST({value} AS {sql_type(call.dtype)})" for value in initial]
    return f"list_reduce({', '.join([typed_list, function, *first])})"


def distinct(more: str = "") -> str:
    """The first of equal elements that are not null."""
    return f"list_filter({{0}}, lambda v, i: v IS NOT NULL AND list_position({{0}}, v) = i{more})"


def first_places(more: str = "") -> str:
    """The places of these."""
    place = f"CASE WHEN v IS NOT NULL AND list_position({{0}}, v) = i{more} THEN i END"
    return f"list_filter(list_transform({{0}}, lambda v, i: {place}), lambda p: p IS NOT NULL)"


def where_both(text: str) -> str:
    """A text that is null where an argument is."""
    return f"(CASE WHEN {{0}} IS NOT NULL AND {{1}} IS NOT NULL THEN {text} END)"


def resized(call: Call, x: str, size: str, *value: str) -> str:
    """Beyond a number of elements there is none, but of a null list."""
    beyond = f"{x} IS NOT NULL AND {size} NOT BETWEEN 0 AND {MOST_NUMBERS}"
    made = f"list_resize({', '.join([x, size, *value])})"
    return f"(CASE WHEN {beyond} THEN error('no size') WHEN {x} IS NOT NULL THEN {made} END)"


def stepped(x: str, first: str, last: str, step: str) -> str:
    """DuckDB mixes up bounds that lie before the list."""
    given = " AND ".join(f"{each} IS NOT NULL" for each in (x, first, last, step))
    ends = [f"(CASE WHEN {step} > 0 THEN {a} ELSE {b} END)" for a, b in ((first, last), (last, first))]
    low, high = (f"(CASE WHEN {end} < 0 THEN CAST({end} AS HUGEINT) + len({x}) + 1 ELSE {end} END)" for end in ends)
    low, high = f"greatest({low}, 1)", f"least({high}, len({x}))"
    kept = f"(i - {low}) % {step} = 0"
    back = f"({high} - i) % {step} = 0"
    chosen = f"i BETWEEN {low} AND {high} AND CASE WHEN {step} > 0 THEN {kept} ELSE {back} END"
    found = f"list_filter({x}, lambda v, i: {chosen})"
    ordered = f"CASE WHEN {step} > 0 THEN {found} ELSE list_reverse({found}) END"
    return f"(CASE WHEN {given} THEN CASE WHEN {step} = 0 THEN error('no step') ELSE {ordered} END END)"


LISTS: dict[str, Text] = {
    "list_value": made,
    "list_transform": "list_transform({0}, {1})",
    "list_filter": "list_filter({0}, {1})",
    "list_reduce": reduced,
    "range": ranged("range"),
    "generate_series": ranged("generate_series"),
    "list_position": typed("list_position({0}, {1})"),
    "list_has_any": where_both("list_has_any({0}, {1})"),
    "list_has_all": where_both("list_has_all({0}, {1})"),
    "list_concat": lambda call, *args: made(call) if not args else f"list_concat({', '.join([*args, made(call)])})",
    "list_append": "list_append({0}, {1})",
    "list_prepend": "list_prepend({0}, {1})",
    "list_reverse": "list_reverse({0})",
    "list_sort": ordered,
    "list_reverse_sort": lambda call, x, *nulls: (
        f"list_reverse_sort({x}, '{constant_of(call, 1) if nulls else 'nulls last'}')"
    ),
    "list_grade_up": lambda call, x, *words: ordered(call, x, *words).replace("list_sort", "list_grade_up", 1),
    "list_distinct": distinct(),
    "list_unique": typed("list_unique({0})"),
    "list_intersect": where_both(distinct(" AND list_contains({1}, v)")),
    "list_first_places": first_places(),
    "list_shared_places": where_both(first_places(" AND list_contains({1}, v)")),
    "list_slice": lambda call, *args: stepped(*args) if len(args) == 4 else f"list_slice({', '.join(args)})",
    "list_select": "CASE WHEN {0} IS NOT NULL THEN list_transform({1}, lambda i: CASE WHEN i <> 0 THEN ({0})[i] END) END",
    "list_where": where_both("list_filter({0}, lambda v, i: coalesce(({1})[i], false))"),
    "flatten": "flatten({0})",
    "list_resize": resized,
    "list_repeat": repeated,
    "list_of_size": "(CASE WHEN len({0}) <> {1} THEN error('another size') ELSE {0} END)",
    "list_fsum": of_floats("list_aggregate", ", 'fsum'"),
    "list_favg": of_floats("list_aggregate", ", 'favg'"),
    "list_string_agg": lambda call, x, *separator: f"list_aggregate({x}, 'string_agg', {(*separator, COMMA)[0]})",
    "list_negative_dot_product": of_floats("list_negative_inner_product"),
    "array_cross_product": crossed,
    "list_zip": lambda call, *args: f"CAST(list_zip({', '.join(args)}) AS {sql_type(call.dtype)})",
    "list_sum": typed("list_sum({0})"),
    "list_mean": mean,
    "list_product": of_floats("list_product"),
    "list_min": "list_min({0})",
    "list_max": "list_max({0})",
    "list_count": "CASE WHEN {0} IS NOT NULL THEN list_count({0}) END",
    "list_any_value": "list_any_value({0})",
    "list_first": "({0})[1]",
    "list_last": "({0})[-1]",
    "list_bool_and": "list_bool_and({0})",
    "list_bool_or": "list_bool_or({0})",
    "list_median": of_known("median_of({0})"),
    "list_quantile": of_known("quantile_of({0}, {1})"),
    "list_mad": of_known("mad_of({0})"),
    "list_mode": of_values("list_mode({0})"),
    "list_entropy": of_values("list_entropy({0})"),
    "list_histogram": of_values("list_histogram({0})"),
    "list_var": of_known(finite("list_var_samp"), 1),
    "list_std": of_known(finite("list_stddev_samp"), 1),
    "list_var_pop": of_known(finite("list_var_pop")),
    "list_std_pop": of_known(finite("list_stddev_pop")),
    "list_skewness": of_known("skewness_of({0})", 2),
    "list_kurtosis": of_known("kurtosis_of({0})", 3),
    "list_kurtosis_pop": of_known("kurtosis_pop_of({0})", 1),
    "list_bit_and": "list_bit_and({0})",
    "list_bit_or": "list_bit_or({0})",
    "list_bit_xor": "list_bit_xor({0})",
    "array_to_string": "array_to_string({0}, {1})",
    "list_dot_product": of_floats("list_dot_product"),
    "list_distance": of_floats("list_distance"),
    "list_cosine_similarity": of_floats("list_cosine_similarity"),
    "list_cosine_distance": of_floats("list_cosine_distance"),
}
