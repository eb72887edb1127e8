"""The section of the language's page on parameters and paths."""

from dataclasses import replace

from gpuetl.spec.language_page.session import Print, shown_command
from gpuetl.spec.language_page.start import DAILY

HEAD = """\
## Parameters

The first example has a parameter, `least`. A run can give its value:

"""
PARAMETERS = """\
Parameters may also be in paths:

```yaml
params:
  run_date:   {type: date, required: true}
  min_amount: {type: float64, default: 0.5}
sources:
  txns: {parquet: "${env.LAKE:-data}/txns/day=${params.run_date}/*.parquet"}
stages:
  clean:
    from: txns
    steps:
      - filter: amount >= $min_amount
      - with_columns: {run: run_id()}
```

    gpuetl run daily.yaml -p run_date=2026-11-01

| key | takes | default | meaning |
|---|---|---|---|
| type | a type | required | the type of the value |
| required | true or false | `false` | whether a run must give the value |
| description | a string | none | what the value is for |
| default | a value of the type | none | the value if a run gives none; needed unless `required: true` |

| where | write | for |
|---|---|---|
| expressions | `$min_amount` | a parameter |
| expressions | `run_id()` | the id of the run |
| any other constant, such as `limit: $n` | `$n` | a parameter |
| paths | `${params.run_date}` | a parameter |
| paths | `${env.LAKE}`, `${env.LAKE:-data}` | an environment variable, with a default |
| paths | `${run.id}` | the id of the run |

- A parameter is a value and never text of an expression, so a value cannot change what the expression does.
- Write `$$x` for the string `$x`.
- A parameter may also be a list, struct or map. Values may come from files and profiles: see
  [projects](projects.md#parameters).
- Relative paths of data, kernels and sinks begin at the folder of the file that has them. Paths such as
  `s3://bucket/key` are in object stores: see [storage](#storage).

| error | reason |
|---|---|
| [GE1016](errors/GE1016.md) | a parameter has no value |
| [GE1017](errors/GE1017.md) | a value of another type |
| [GE1018](errors/GE1018.md) | wrong declaration of a parameter |
| [GE1021](errors/GE1021.md) | unknown parameter |
| [GE1019](errors/GE1019.md) | a path that cannot be filled in |
"""


def parameters_markdown(printed: Print) -> str:
    """Return the section."""
    session = replace(DAILY, command="show daily.yaml spend -p least=5")
    return "\n".join([HEAD + shown_command(session, printed), PARAMETERS])
