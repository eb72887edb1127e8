"""The section of the language's page on sinks."""

from gpuetl.formats.registry import sink_formats
from gpuetl.spec.language_page.options_table import format_tables, options_table
from gpuetl.spec.language_page.session import Print, Session, shown_session
from gpuetl.spec.model import SinkSpec

SINKS = """\
## Sinks

A path with a suffix, such as `out/list.csv`, is one file: gpuetl gathers all rows for it. Any other path is a folder,
with one file for each partition. All sinks of a run change together, even if the process is killed:
[commits](commits.md).
"""
WRITTEN = Session(
    {
        "sales.csv": "id,month,amount\n1,1,10.0\n2,2,4.5\n3,2,8.0\n",
        "months.yaml": """\
gpuetl: 1
name: months
params:
  day: {type: date, default: 2026-11-01}
sources:
  sales: {csv: sales.csv, schema: {id: int64, month: int32, amount: float64}}
sinks:
  list:   {from: sales, csv: out/list.csv, mode: overwrite, sort_by: amount desc}
  months: {from: sales, parquet: out/months, mode: append, partition_by: month, run_key: day}
""",
    },
    "run months.yaml --quiet",
    "out",
)
KEYS = """\
`.gpuetl` holds a record of each run. All sinks have these keys:
"""
SINK_RULES = """\
### Mode

| mode | if the target exists |
|---|---|
| `error` | the run ends before it changes anything ([GE1501](errors/GE1501.md)) |
| `overwrite` | the new files replace all files that are there |
| `append` | the new files are added to the folder |
| `replace_partitions` | the folders of `partition_by` that get rows are replaced; the others stay |
| `upsert` | rows replace those with the same values in `on`; all other rows stay |

[Which mode for what](commits.md#which-mode-for-what) says what a second run does in each mode, and a late row.

gpuetl only removes files that it wrote. If a folder to replace holds other files, even hidden ones, the run stops and
names them ([GE1511](errors/GE1511.md)). `keep_foreign: true` keeps such files in place:

```yaml
daily: {from: clean, parquet: out/daily, mode: overwrite, keep_foreign: true}
```

### Partitions and order

`partition_by: [month]` puts rows into folders such as `month=3`. The files do not have these columns; a source
declares them as `partitions`. `sort_by` sorts the rows before they are written, by columns or expressions: `sort_by:
abs(amount) desc`. With `mode: upsert` it takes columns only, since the rows of the files are sorted again.

### Sinks without rows

```yaml
daily: {from: clean, parquet: out/daily, mode: overwrite, on_empty: error}
```

| on_empty | the target | the run reports |
|---|---|---|
| `write` | becomes empty; with `append` and `replace_partitions` it does not change | a warning ([GE1703](errors/GE1703.md)) |
| `keep` | stays as it is; the other sinks are written | a note |
| `error` | stays as it is, and so do all other sinks | an error, exit code 1 ([GE1506](errors/GE1506.md)) |

With `replace_partitions`, a run without rows changes no folder, whatever `on_empty` says.

### Appends that can be repeated

```yaml
facts: {from: clean, parquet: out/facts, mode: append, run_key: [run_date]}
```

`run_key` names the parameters that identify a run. A second run with the same `run_date` replaces the files that the
first one appended. Other files stay. Null counts as a value.

The key includes the names of the pipeline and of the sink, so other pipelines can append to the same folder. It is a
digest in the names of files: `part-<key>-<run>-00000.parquet`. Without `run_key`, a run warns if the same pipeline
has already appended files with the same parameters ([GE1704](errors/GE1704.md)).

### Rows that replace others

```yaml
orders: {from: changes, parquet: out/orders, mode: upsert, on: [id], partition_by: [month]}
```

A new row replaces the row with the same `id`. All other rows stay. Only the partitions that change are written again;
without `partition_by`, these are all files. A path with a suffix, one file, works too.

If a row comes with another `month` than before, it leaves its old partition. To find it, gpuetl reads the columns of
`on` of the whole target. If `on` includes all columns of `partition_by`, such as `on: [id, month]`, equal keys are always
in one partition. Then gpuetl reads and compares only the partitions of new rows.

| case | outcome |
|---|---|
| several new rows have one key | the run fails, and names keys ([GE1568](errors/GE1568.md)) |
| a key has a null | the run fails ([GE1569](errors/GE1569.md)) |
| the target has other columns or types | the run fails ([GE1570](errors/GE1570.md)) |
| another run changes the target meanwhile | the run fails, and nothing is lost ([GE1567](errors/GE1567.md)) |
| a partition loses its last row | its folder is removed |
| the format is not Parquet or Arrow | an error: other formats do not keep all types ([GE1566](errors/GE1566.md)) |

[Upserts](commits.md#upserts) shows an example, and what it costs.

| error | reason |
|---|---|
| [GE1564](errors/GE1564.md), [GE1565](errors/GE1565.md) | `on` and `mode: upsert` belong together |
| [GE1503](errors/GE1503.md), [GE1507](errors/GE1507.md), [GE1510](errors/GE1510.md) | keys do not fit the mode or the path |
| [GE1504](errors/GE1504.md) | `partition_by` cannot be used here |
| [GE1505](errors/GE1505.md) | the format cannot hold a column |
| [GE1502](errors/GE1502.md) | paths overlap |
| [GE1508](errors/GE1508.md) | a sink cannot write |

### Keys of one sink format
"""


def sinks_markdown(printed: Print) -> str:
    """Return the section."""
    path = {
        ", ".join(sink_formats()): ("the path: a file if it has a suffix, else a folder", "the format, and the target")
    }
    session = shown_session(WRITTEN, printed)
    return "\n".join([SINKS, session, KEYS, options_table(SinkSpec, path), SINK_RULES, format_tables(SinkSpec)])
