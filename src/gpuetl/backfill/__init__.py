"""A pipeline run once for each value of a parameter, such as each day of a month.

| module | what it holds |
|---|---|
| `values.py` | the values of a range, by steps |
| `safety.py` | sinks and state that runs of several values would take from each other |
| `record.py` | which values have a successful run, in the state folder of the pipeline |
| `processes.py` | runs as processes, several at a time; they are ended cleanly when the backfill is |

Dagster keeps a status for each partition of a backfill, and starts what is missing or failed.  Airflow runs a DAG for
each date, and limits how many are active.  Taken are a record by value, and that only missing values run by default.
"""
