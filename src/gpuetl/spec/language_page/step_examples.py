"""An example of each step: the table that the language's page and the JSON Schema read."""

from __future__ import annotations

from gpuetl.spec.language_page.example import Example, Given

SALES = Given(
    {"id": "int64", "region": "string", "amount": "float64"},
    [(1, "EU", 10.0), (2, "US", 4.5), (3, "EU", None), (4, "US", 20.0)],
)
YEARS = Given(
    {"region": "string", "year": "int64", "amount": "float64"},
    [("EU", 2025, 10.0), ("EU", 2026, 2.5), ("US", 2026, 4.5), ("EU", 2026, 1.0)],
)
TEXTS = Given({"id": "string", "price": "string"}, [("1", "2.50"), ("2", "3"), ("3", None)])
REGIONS = Given({"region": "string", "name": "string"}, [("EU", "Europe"), ("JP", "Japan")])
AUDITED = Given({"id": "int64", "region": "string"}, [(1, "EU"), (4, "JP")])
RETURNS = Given({"id": "int64", "amount": "float64", "reason": "string"}, [(4, -20.0, "broken")])
EVENTS = Given(
    {"user": "string", "at": "timestamp", "spent": "int64"},
    [
        ("ann", "2026-11-01T10:00:00", 5),
        ("bob", "2026-11-01T10:30:00", 7),
        ("ann", "2026-11-01T11:00:00", 1),
        ("ann", "2026-11-01T12:00:00", 4),
    ],
)
POSTS = Given({"id": "int64", "tags": "list<string>"}, [(1, ["gpu", "etl"]), (2, [])])
USERS = Given(
    {"id": "int64", "address": "struct<city: string, zip: string>"},
    [(1, {"city": "Rome", "zip": "00184"}), (2, None)],
)
SLOTS = Given(
    {"sensor": "string", "slot": "timestamp", "value": "int64"},
    [
        ("a", "2026-11-01T09:45:00", 5),
        ("a", "2026-11-01T10:30:00", 7),
        ("b", "2026-11-01T10:00:00", 1),
    ],
)
TWIN = 'def scaled(x, scale):\n    return {"y": x * scale}\n'

STEP_EXAMPLES = {
    "filter": Example("- filter: amount > 5\n", {"sales": SALES}, ("GE1117", "GE1108", "GE1702")),
    "select": Example(
        "- select: {id: id, net: amount / 1.25}\n",
        {"sales": SALES},
        ("GE1207", "GE1211", "GE1023", "GE1024"),
    ),
    "with_columns": Example(
        "- with_columns:\n    is_large: amount >= 10\n    region: lower(region)\n",
        {"sales": SALES},
        ("GE1024", "GE1107"),
    ),
    "drop": Example("- drop: region\n", {"sales": SALES}, ("GE1003", "GE1207")),
    "rename": Example("- rename: {id: sale_id}\n", {"sales": SALES}, ("GE1003", "GE1023")),
    "cast": Example(
        '- cast: {id: int64, price: "decimal(6,2)"}\n', {"texts": TEXTS}, ("GE1110", "GE1025", "GE2002")
    ),
    "join": Example(
        "- join: {with: regions, on: region, how: left, validate: many_to_one}\n",
        {"sales": SALES, "regions": REGIONS},
        ("GE1201", "GE1202", "GE1812", "GE1117", "GE1020", "GE1023", "GE1800", "GE1801", "GE1802", "GE2004", "GE2030"),
    ),
    "aggregate": Example(
        "- aggregate:\n    by: region\n    columns: {sales: count(*), total: sum(amount)}\n- sort: region\n",
        {"sales": SALES},
        ("GE1205", "GE1206", "GE1023", "GE1107", "GE1117", "GE1821", "GE1822"),
        more={
            "A key that is an expression, and a condition on the groups:": (
                "- aggregate:\n    by: [{zone: lower(region)}]\n    columns: {total: sum(amount)}\n"
                "    having: count(*) > 1 AND total > 20\n"
            ),
            "Groups of several kinds in one result:": (
                "- aggregate:\n    by: region\n    group_sets: rollup\n"
                "    columns: {total: sum(amount), is_total: grouping(region)}\n- sort: [is_total, region]\n"
            ),
        },
    ),
    "window": Example(
        "- window:\n    by: user\n    order_by: at\n    columns: {visit: row_number(), total: cum_sum(spent), share: spent / sum(spent)}\n",
        {"events": EVENTS},
        ("GE1204", "GE1205", "GE1550", "GE1551", "GE1555", "GE1556"),
    ),
    "kernel": Example(
        "- kernel:\n    body: y = x * scale;\n    inputs: x\n    outputs: {y: float64}\n    args: {scale: 2.0}\n"
        "    reference: scaled.py:scaled\n",
        {"points": Given({"x": "float64"}, [(1.0,), (None,), (2.5,)])},
        ("GE1301", "GE1302", "GE1303", "GE1304", "GE1305", "GE1306", "GE1307", "GE1308", "GE1890", "GE1891", "GE1892",
         "GE1893", "GE1894", "GE1895", "GE2005", "GE2006", "GE2012", "GE2013"),
        {"scaled.py": TWIN},
    ),
    "sort": Example(
        "- sort: [region, amount desc]\n",
        {"sales": SALES},
        ("GE1003", "GE1115", "GE1820"),
        more={"An expression as a key:": "- sort: [\"abs(amount - 10)\", id]\n"},
    ),
    "distinct": Example(
        "- distinct: {on: region, keep: first, order_by: amount desc}\n- sort: region\n",
        {"sales": SALES},
        ("GE1208",),
    ),
    "limit": Example("- sort: amount desc\n- limit: {count: 2, offset: 1}\n", {"sales": SALES}, ("GE1008",)),
    "union": Example(
        "- union: {with: returns, missing: null}\n- sort: [id, amount desc]\n",
        {"sales": SALES, "returns": RETURNS},
        ("GE1203", "GE1020"),
    ),
    "intersect": Example(
        "- select: [id, region]\n- intersect: audited\n- sort: id\n",
        {"sales": SALES, "audited": AUDITED},
        ("GE1203", "GE1020"),
    ),
    "except": Example(
        "- select: [id, region]\n- except: audited\n- sort: id\n",
        {"sales": SALES, "audited": AUDITED},
        ("GE1203", "GE1020"),
    ),
    "explode": Example("- explode: {column: tags, index: place}\n", {"posts": POSTS}, ("GE1210", "GE1023")),
    "unnest": Example("- unnest: {column: address, prefix: home_}\n", {"users": USERS}, ("GE1211", "GE1023")),
    "pivot": Example(
        "- pivot: {by: region, names: year, values: sum(amount), columns: [2025, 2026]}\n- sort: region\n",
        {"sales": YEARS},
        ("GE1023", "GE1824", "GE1825", "GE1206"),
        more={
            "Several aggregates, and years that have no column:": (
                "- pivot:\n    by: region\n    names: year\n    columns: [2026]\n    others: ignore\n"
                "    values: {total: sum(amount), sales: count(*)}\n- sort: region\n"
            )
        },
    ),
    "unpivot": Example(
        "- unpivot: {columns: [jan, feb], names_to: month, values_to: sold, nulls: drop}\n- sort: [id, month]\n",
        {"sold": Given({"id": "int64", "jan": "int64", "feb": "int64"}, [(1, 3, 5), (2, None, 4)])},
        ("GE1023", "GE1823"),
    ),
    "fill_gaps": Example(
        "- fill_gaps: {by: sensor, on: slot, every: 15 minutes, mark: made}\n"
        "- window: {by: sensor, order_by: slot, columns: {last: ffill(value), line: 'interpolate(value, by => slot)'}}\n",
        {"slots": SLOTS},
        ("GE1851", "GE1023"),
        more={
            "The same hours for each sensor:": (
                "- fill_gaps:\n    by: sensor\n    on: slot\n    every: 1 hour\n"
                "    start: TIMESTAMP '2026-11-01 09:00'\n    before: TIMESTAMP '2026-11-01 11:00'\n"
            )
        },
    ),
    "fill_null": Example("- fill_null: {amount: 0}\n", {"sales": SALES}, ("GE1103",)),
    "fit": Example(
        "- fit:\n    - normalise: {columns: {scaled: amount}}\n    - categorify: region\n- sort: id\n",
        {"sales": SALES},
        ("GE1880",),
    ),
    "apply": Example(
        "- apply: {fit: train}\n- sort: id\n",
        {"sales": SALES},
        ("GE1882",),
        before="  train: {from: sales, steps: [fit: [min_max: amount]]}\n",
    ),
    "sample": Example(
        "- sample: {rows: 2, seed: 1}\n- sort: id\n",
        {"sales": SALES},
        ("GE1209",),
        more={"One row of each region:": "- sample: {rows: 1, stratify: region}\n- sort: id\n"},
    ),
}  # fmt: skip
"""By verb."""
