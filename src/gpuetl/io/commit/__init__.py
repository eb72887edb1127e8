"""How the sinks of a run change: all of them or none, also when the process is killed in the middle.

From SQLite's rollback journal we take three ideas: changes are written down and synced before they are made, the next
process replays a journal whose owner is dead, and one record decides for several files.  From Delta and Iceberg we
take that new data lies where nobody reads it, that one atomic record makes it valid, and that a list names the table's
files.  Hadoop's first committer renames file after file without a record, and leaves half a result when it is killed.

| module | what it holds |
|---|---|
| `commit_sinks.py` | the commit of a run, and what it does about the dead runs that it finds |
| `commit_steps.py` | what the commit of one sink will change, by its mode |

The changes themselves, the journal, locks and recovery are those of local folders: `places/local/commit`.
"""
