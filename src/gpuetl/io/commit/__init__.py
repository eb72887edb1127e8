"""How the sinks of a run change: all of them or none, also when the process is killed in the middle.

From SQLite's rollback journal we take three ideas: changes are written down and synced before they are made, the next
process replays a journal whose owner is dead, and one record decides for several files.  From Delta and Iceberg we
take that new data lies where nobody reads it, that one atomic record makes it valid, and that a list names the table's
files.  Hadoop's first committer renames file after file without a record, and leaves half a result when it is killed.

| module | what it holds |
|---|---|
| `commit_sinks.py` | the commit of a run |
| `commit_steps.py` | what the commit of one sink will change, by its mode |
| `moves.py`, `moves.py` | one change, which can be repeated and undone |
| `journal.py` | the list of changes, and the record that decides |
| `locks.py`, `locks.py` | which runs are alive, and who may change a folder |
| `recovery.py` | what becomes of the staging folders of dead runs |
| `manifest.py` | which files of a folder are gpuetl's |
| `manifest.py` | modes and owners of what is replaced |
| `recovery.py` | files that others wrote while a folder was replaced |
| `commit_sinks.py` | what a run does about the dead runs that it finds |
| `moves.py` | files and folders brought to disk |
"""
