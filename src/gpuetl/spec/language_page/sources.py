"""The section of the language's page on sources."""

from gpuetl.formats.registry import source_formats
from gpuetl.spec.language_page.options_table import format_tables, options_table
from gpuetl.spec.language_page.session import Print, Session, shown_session
from gpuetl.spec.model import SourceSpec

SOURCES = """\
## Sources

```yaml
sources:
  txns:    {parquet: data/txns.parquet}
  orders:  {parquet: lake/orders, partitions: {year: int32, month: int32}}
  returns: {csv: lake/returns/*.csv, delimiter: ";", nulls: ["", NA], schema: {id: int64, paid: "decimal(12,2)"}}
```

A source is a file, a glob, or a folder with its subfolders. [Formats](formats.md) shows how to read each format. All
sources have these keys:
"""
FILES = """\
### Which files are read

| the path is | gpuetl reads |
|---|---|
| a file: `lake/a.parquet` | this file, whatever its name |
| a glob: `lake/*/a.csv` | exactly the files that match it |
| a folder: `lake/events` | all files in it and its subfolders whose names have a suffix of the format |

- A folder or `*` leaves out names that begin with `.` or `_`. To read them, write the path (`lake/_x.csv`) or begin
  that part of the glob with the character (`lake/_*.csv`).
- A warning counts other files in a folder that look like data ([GE1705](errors/GE1705.md)).
- gpuetl reads links to files. It follows a link to a folder where the path names it, as `lake/*/a.csv` does. It does
  not follow one inside a folder, or one below `**`: that is a warning ([GE1725](errors/GE1725.md)).
- A file that a source reads by two paths is a warning ([GE1726](errors/GE1726.md)).
- A path that matches no file is an error ([GE1401](errors/GE1401.md)). So are a folder that cannot be listed
  ([GE1422](errors/GE1422.md)), a pipe, a device, and a link that leads nowhere ([GE1421](errors/GE1421.md)).
- A sink must not write to a file of a source, even through a link or a mount ([GE1502](errors/GE1502.md)).

### Files that change

The plan notes the size, modification time and inode of each file. gpuetl compares them whenever it opens the file,
and again after reading it. A file that was replaced, changed, moved or deleted ends the run with its name
([GE1420](errors/GE1420.md)), and no sink changes. Files that are added during a run are not read. A change that keeps
size, time and inode goes unnoticed. Workers on other machines compare size and time.

### Partitions and paths

```yaml
orders: {parquet: lake/orders, partitions: {year: int32, month: int32}}    # lake/orders/year=2024/month=3/…
events: {parquet: lake/events, exclude: [payload], filename: file}
```

`partitions` makes columns of folder names. gpuetl does not read files that a filter on these columns rules out. A
folder whose value is not of the declared type is an error ([GE1408](errors/GE1408.md)). If the files have a column of
the same name, the folder's value counts.

`filename: file` adds a string column with the path of each row's file. A filter on it rules out files, too. To read
all columns but some, whatever their type, write `exclude: [payload]`.

### Files whose columns differ

```yaml
lake: {parquet: lake/events, extra_columns: add}
```

The first file defines the columns. To choose them yourself, name them in `columns`, or add a `schema`. If a later
file lacks a column, or has one that the first does not have, the run stops. It stops before it reads a row, and names
the file and the column ([GE1404](errors/GE1404.md), [GE1405](errors/GE1405.md)). Two keys change that:

| key | value | meaning |
|---|---|---|
| `extra_columns` | `error` | stop at a column that the schema, or else the first file, does not have |
| | `ignore` | leave such columns out |
| | `add` | read the columns of all files, in order of first appearance; a file without one has null there |
| `missing_columns` | `error` | stop at a file that lacks a column |
| | `null` | read null for the columns that a file lacks |

- Without `extra_columns`, extra columns are an error, unless the source has a `schema` or `columns`. Then they are
  left out, and a warning names those that the first file does not have either ([GE1708](errors/GE1708.md)).
- With `add`, types widen as in expressions. Two types that cannot widen to one are an error that names both files
  ([GE1406](errors/GE1406.md)). Added columns of CSV files are strings.

### Only what is new

```yaml
landing: {csv: landing, schema: {id: int64}, incremental: {new_files: true}}
clicks: {parquet: clicks, incremental: {watermark: ts, lateness: interval '2 hours'}}
```

An incremental source gives each run only what no successful run has read: the files that are new, or the rows beyond a
watermark. [Incremental sources](incremental.md) has all keys, with examples.

### Parquet files

```yaml
lake: {parquet: lake/events, verify_checksums: true}
```

With a `schema`, the types of a file must widen to its types. A type that gpuetl does not support, such as a union, is
an error ([GE1407](errors/GE1407.md)) unless the source leaves the column out. So is a value that does not fit:
nanoseconds that are not whole microseconds, or text that is not UTF-8. Timestamps that are stored as INT96 are read
exactly, also beyond the years 1677 to 2262.

gpuetl does not trust what a file declares. These are errors that name the file:

| the file | error |
|---|---|
| has metadata that contradicts itself | [GE1440](errors/GE1440.md) |
| has a column whose name is not UTF-8, and the source does not name other `columns` | [GE1441](errors/GE1441.md) |
| is encrypted | [GE1442](errors/GE1442.md) |
| has a page that differs from its checksum, with `verify_checksums` | [GE1445](errors/GE1445.md) |

By default gpuetl does not compare checksums: many writers, including Arrow and gpuetl, write none.

On a GPU, libcudf reads the pages and does not check all of their content. It may give wrong values for a damaged page
that Arrow refuses. With `verify_pages: true`, Arrow decodes and checks all pages on the CPU, as the engine `pandas`
always does. This takes longer. Use it for files that you do not trust.

Arrow also reads some columns on the CPU, because libcudf reads them wrongly or does not check them. These are INT96
timestamps, pages of several gzip members, delta encodings of other writers, and rare codecs. The report names them.

### CSV files

```yaml
returns: {csv: lake/returns/*.csv, delimiter: ";", nulls: ["", NA], schema: {id: int64, paid: "decimal(12,2)"}}
```

A CSV source needs a `schema`, or `schema: infer` ([GE1402](errors/GE1402.md)). [Formats](formats.md#csv) explains
inference, compression, encodings and dialects.

| in the file | gpuetl |
|---|---|
| the first line | reads the names of the columns; upper and lower case differ |
| a column that the schema does not name | does not read it; this includes the nameless column after a delimiter at the line's end |
| a name of the schema twice in the header | stops ([GE1412](errors/GE1412.md)) |
| nothing at all | stops ([GE1414](errors/GE1414.md)) |
| a header alone | reads no rows |
| a field that is a string of `nulls`, by default an empty one | reads null, unless the field is in quotes |
| spaces and tabs around a value | ignores them, except in strings |
| a field of spaces alone | does not read it as empty, or as a number |
| an empty line | skips it, but reads null in a file of one column |
| bytes | reads UTF-8, with or without a byte order mark, unless `encoding` says otherwise |
| `\\n`, `\\r\\n` or `\\r` | ends the line; one file may mix them |
| a NUL byte | reads it like any character |
| a field that begins with a quote | reads up to the closing quote; it may hold delimiters and line ends, and quotes written twice |
| text after a closing quote | has a bad row |
| a quote inside another field, as in `5" pipe` | reads it like any character |

### Bad rows of CSV files

A value is bad if CAST does not read it, or if text follows its closing quote. A row is bad if it has too few or too
many fields.
"""
SHOP = Session(
    {
        "txns.csv": 'id,amount\n1,10.00\n2,"12,5"\n3\n',
        "shop.yaml": """\
gpuetl: 1
name: shop
sources:
  txns: {csv: txns.csv, schema: {id: int64, amount: "decimal(12,2)"}, on_bad_row: quarantine}
stages:
  bad:
    from: txns.rejected
    steps:
      - select: [line, text, _rule]
sinks:
  good: {from: txns, parquet: out/good, mode: overwrite}
  bad: {from: bad, csv: out/bad, mode: append}
""",
    },
    "show shop.yaml bad",
)
BAD_ROWS = """\
| on_bad_row | bad value | too few fields | too many fields |
|---|---|---|---|
| `fail` | the run stops, with file, line, column and value | the run stops | the run stops |
| `null` | null | the missing fields are null | the fields after the last column are left out |
| `quarantine` | the row goes to `txns.rejected` | the same | the same |

`null` counts its changes in a warning, with the first lines ([GE1706](errors/GE1706.md)). Both `fail` and `null`
check the columns that the pipeline uses. With `quarantine`, gpuetl checks all columns of the schema. Stages and sinks
read `txns.rejected` by that name, in Python `table.rejected`. If nothing reads it, the pipeline is not valid
([GE1413](errors/GE1413.md)). It has these columns:

| column | type | holds |
|---|---|---|
| `file` | string | the path of the file |
| `line` | int64 | the line, from 1, in which the row begins |
| `text` | string | the row as it is written, at most 2,000 characters |
| `_rule` | string | what is wrong: `amount: '12,5' is not a valid decimal(12,2)`, or `5 fields, expected 4` |
| `_run` | string | the id of the run |

A quote that is not closed is always an error, because gpuetl cannot know where its row ends
([GE1415](errors/GE1415.md)).

### Keys of one format
"""


def sources_markdown(printed: Print) -> str:
    """Return the section."""
    path = {", ".join(source_formats()): ("the path: a file, a glob, or a folder", "the format, and the files to read")}
    parts = [
        SOURCES, options_table(SourceSpec, path), FILES, shown_session(SHOP, printed), BAD_ROWS,
        format_tables(SourceSpec),
    ]  # fmt: skip
    return "\n".join(parts)
