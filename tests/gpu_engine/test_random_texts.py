"""String functions, LIKE and regular expressions over random texts and patterns: the answers of the pandas engine."""

import random

import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.no_result import NoResult
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Expr
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.regex import InvalidPattern, Pattern, parse_pattern
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.unparse import constant_text, to_sql
from gpuetl.types.data_types import BOOL, STRING

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

CHARACTERS = "aabbbAB-1 \n_.]^\\$,éñÑßİıΩ\u0301ǆ😀\U00010428\U0001e900\u00a0\ufeff\x7f\x80\u07ff\u0800\uffff"
ATOMS = ("a", "b", r"\.", "é", "😀", ".", r"\d", r"\w", r"\W", r"\s", r"\S", "[ab]", "[^a]", r"[^\d\n]", r"[\]\\^-]", "^",
         "$", "[a-zà-ü]", "[^\u0301-\uffff]", "aa?b")  # fmt: skip
SIGNS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}", "{2,}?", "{0,3}")


def random_pattern(draws: random.Random, depth: int = 0) -> str:
    """Return a pattern that may be outside of the subset."""
    if depth == 3 or draws.random() < 0.25:
        return draws.choice(ATOMS)
    parts = [random_pattern(draws, depth + 1) for _ in range(draws.randint(1, 3))]
    forms = ["".join(parts), f"({'|'.join(parts)})", f"(?:{parts[0]}){draws.choice(SIGNS)}", f"({''.join(parts)})"]
    return draws.choice(forms)


def random_patterns(draws: random.Random, count: int) -> list[tuple[str, Pattern]]:
    """Return patterns of the subset."""
    found = []
    while len(found) < count:
        text = random_pattern(draws)
        try:
            found.append((text, parse_pattern(text)))
        except InvalidPattern:
            continue
    return found


def random_texts(draws: random.Random, count: int) -> list[str | None]:
    """Return texts of few and of many characters, and nulls."""
    sizes = [draws.choice([0, 1, 2, 3, 5, 8, 20, 70]) for _ in range(count)]
    return [None if draws.random() < 0.05 else "".join(draws.choices(CHARACTERS, k=size)) for size in sizes]


def typed(sql: str) -> Expr:
    """Return an expression over the text `t`."""
    return resolve(parse_expression(sql), Scope({"t": STRING}, {}, ("scalar",)))


def assert_answers(expressions: list[Expr], texts: list[str | None]) -> None:
    """Raise `AssertionError` unless both engines agree on every expression: texts in one kernel, a case of a column each."""
    flags = {
        f"b{i}": pa.array([i == place for place in range(len(expressions)) for _ in texts])
        for i in range(len(expressions))
    }
    table = pa.table({"t": pa.array(texts * len(expressions), STRING), **flags})
    alone = pa.table({"t": pa.array(texts, STRING)})
    machine = HostMachine()
    if expressions[0].dtype == STRING:
        scope = Scope(dict.fromkeys(flags, BOOL), {}, ("scalar",))
        branches = [
            part
            for name, expr in zip(flags, expressions, strict=True)
            for part in (resolve(parse_expression(name), scope), expr)
        ]
        exprs = {"": Call(FUNCTIONS["scalar", "case"], tuple(branches), STRING)}
        frame = {
            name: from_arrow(column, machine) for name, column in zip(table.column_names, table.columns, strict=True)
        }
        whole = to_arrow(evaluate(exprs, frame, table.num_rows, machine)[""], machine).to_pylist()
        got = [whole[i * len(texts) : (i + 1) * len(texts)] for i in range(len(expressions))]
    else:
        frame = {"t": from_arrow(alone["t"], machine)}
        results = evaluate({str(i): expr for i, expr in enumerate(expressions)}, frame, len(texts), machine)
        got = [to_arrow(results[str(i)], machine).to_pylist() for i in range(len(expressions))]
    for expr, values in zip(expressions, got, strict=True):
        expected = evaluate_column(expr, alone).to_pylist()
        for text, value, wanted in zip(texts, values, expected, strict=True):
            assert value == wanted, f"{to_sql(expr)} of {text!r}: {value!r}, expected {wanted!r}"


def test_regular_expressions_have_the_answers_of_re2():
    draws = random.Random(1)
    patterns = random_patterns(draws, 25)
    tests, texts = [], []
    for pattern, parsed in patterns:
        quoted = constant_text(pattern)
        groups = [*range(parsed.groups + 1)]
        tests += [f"regexp_like(t, {quoted})", f"regexp_full_match(t, {quoted})"]
        texts.append(f"regexp_extract(t, {quoted}, {draws.choice(groups)})")
        if not parsed.can_be_empty:
            tests.append(f"regexp_count(t, {quoted})")
            texts.append(f"regexp_replace(t, {quoted}, '<\\{draws.choice(groups)}|\\0ñ\\{draws.choice(groups)}>')")
    assert_answers([typed(sql) for sql in tests], random_texts(draws, 60))
    assert_answers([typed(sql) for sql in texts], random_texts(draws, 30))


def test_patterns_of_rows_have_the_answers_of_re2():
    draws, machine = random.Random(5), HostMachine()
    found = [(text, parsed) for text, parsed in random_patterns(draws, 60) if not parsed.can_be_empty]
    drawn = [draws.choice([*found, ("(?:a|b?c){40}(x)?", parse_pattern("(x)"))]) for _ in range(300)]
    groups = [draws.randint(0, parsed.groups) for _, parsed in drawn]
    table = pa.table(
        {
            "t": pa.array(random_texts(draws, 300), STRING),
            "p": pa.array([None if draws.random() < 0.05 else text for text, _ in drawn], STRING),
            "g": pa.array(groups, pa.int64()),
            "r": pa.array([f"<\\0ñ{draws.choice(['', f'{chr(92)}{min(group, 9)}'])}>" for group in groups], STRING),
        }
    )
    scope = Scope({"t": STRING, "p": STRING, "g": pa.int64(), "r": STRING}, {}, ("scalar",))
    calls = (
        "regexp_like(t, p)", "regexp_full_match(t, p, 's')", "regexp_extract(t, p)", "regexp_extract(t, p, g)", "regexp_extract_all(t, p, g)",
        "regexp_split_to_array(t, p)", "regexp_replace(t, p, r)", "regexp_replace(t, p, '<\\0>')", "regexp_replace(t, '([^a])(.)?', r)",
        "regexp_count(t, p)", "regexp_like('aabñ-1', p)", "CASE WHEN g = 1 THEN regexp_count(t, p, 'i') END",
    )  # fmt: skip
    exprs = {sql: resolve(parse_expression(sql), scope) for sql in calls}
    plain = {name: from_arrow(column, machine) for name, column in zip(table.column_names, table.columns, strict=True)}
    for frame in (plain, {name: with_dictionary(column, machine) for name, column in plain.items()}):
        for sql, expr in exprs.items():
            try:
                expected: object = evaluate_column(expr, table).to_pylist()
            except NoResult as error:
                expected = str(error)
            try:
                got: object = to_arrow(evaluate({"": expr}, frame, 300, machine)[""], machine).to_pylist()
            except NoResult as error:
                got = str(error)
            assert got == expected, sql


@pytest.mark.parametrize("name", ["upper", "lower", "initcap"])
def test_every_code_point_has_the_case_of_python(name):
    points = [chr(point) for point in [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]]
    texts = ["".join(points[start : start + 999]) for start in range(0, len(points), 999)]
    assert_answers([typed(f"{name}(t)"), typed(f"{name}('a' || t)")], texts)


@pytest.mark.parametrize(
    "pattern", ["x{0,999}y", "[^a]{1000}", "(.|\\n){500}", "(?:a?b){500}", r"\W{1,1000}", "a?" * 400 + "b"]
)
def test_the_longest_patterns_are_matched(pattern):
    texts = ["xxy", "", "a" * 1001, "\n" * 700, "ab" * 500, None]
    assert_answers([typed(f"regexp_like(t, '{pattern}')"), typed(f"regexp_full_match(t, '{pattern}')")], texts)
    assert_answers([typed(f"regexp_extract(t, '{pattern}')")], texts)


def test_like_has_the_answers_of_the_pandas_engine():
    draws = random.Random(2)
    patterns = ["".join(draws.choices("aabB%%%__éÑ😀.İ", k=draws.randint(0, 6))) for _ in range(40)]
    exprs = [typed(f"t {draws.choice(['LIKE', 'ILIKE'])} {constant_text(pattern)}") for pattern in patterns]
    assert_answers(exprs, random_texts(draws, 100))


def test_texts_are_cut_and_written_as_by_the_pandas_engine():
    draws = random.Random(3)
    part = [constant_text("".join(draws.choices("aabé😀,", k=size))) for size in (1, 1, 1, 2, 2, 3)]
    exprs = [
        f"{name}(t, {draws.choice(part)})" for name in ("trim", "ltrim", "rtrim", "remove_prefix", "remove_suffix") for _ in range(2)
    ] + [
        f"split_part(t, {piece}, {index})" for piece in part for index in (1, -1, 3, -2)
    ] + [
        f"replace(t, {draws.choice(part)}, {draws.choice(part)})", f"translate(t, {part[5]}, {part[3]})", "upper(t)", "lower(t)",
        "initcap(t)", "reverse(t)", "lpad(t, 6, 'é')", "rpad(t, 6, '😀')", "substring(t, -2, 5)", "substring(t, 3)", "left(t, 4)",
        "right(t, 4)", "repeat(t, 3)", "concat_ws('é', t, upper(t), NULL, trim(t))", "t || reverse(t)",
    ]  # fmt: skip
    assert_answers([typed(sql) for sql in exprs], random_texts(draws, 40))
