"""How sinks on object stores change: files are staged as hidden objects, and one object decides for all sinks.

Object stores have no rename and no lock.  Each request on one object is atomic, and so is "create if it is not there".

| module | what it holds |
|---|---|
| `bucket.py` | the requests that a commit makes, with errors as `OSError` |
| `leases.py` | which runs are alive, and who may change a target |
| `manifests.py` | which objects below a target are gpuetl's, and which of them a reader takes |
| `staged_sink.py` | the staged files of one sink |
| `journal.py` | what a commit changes, how that is decided, finished and undone |
| `commit_sinks.py` | the commit of a run, and what it does about the dead runs that it finds |
| `publisher.py` | all of it behind the interface that every kind of store has |

From Hadoop's S3A committers we take that a job stages its files where readers do not look, and publishes them at the
end.  From Delta and Iceberg we take that one object, created only if it is not there, makes a commit valid.
"""
