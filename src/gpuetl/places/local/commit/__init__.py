"""How files of local folders change: renames that are written down first, repeated and undone any number of times.

| module | what it holds |
|---|---|
| `moves.py` | one change, which can be repeated and undone; files and folders brought to disk |
| `journal.py` | the list of changes, and the record that decides |
| `locks.py` | which runs are alive, and who may change a folder |
| `manifest.py` | which files of a folder are gpuetl's; modes and owners of what is replaced |
| `commit_sinks.py` | the commit of a run, and what it does about the dead runs that it finds |
| `commit_steps.py` | what the commit of one sink will change, by its mode |
| `publisher.py` | all of it behind the interface that every kind of store has |
| `recovery.py` | what becomes of the staging folders of dead runs |
"""
