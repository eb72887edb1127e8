"""Places: where files are.  A `Filesystem` for each kind of store lists, describes and opens the files of its paths.

| module | what it holds |
|---|---|
| `filesystem.py` | the `Filesystem` protocol, and what it returns: listings and open files |
| `file_state.py` | what tells that a file is still the one that a plan was made for |
| `paths.py` | paths as users write them, and paths of stores that have a scheme |
| `registry.py` | the filesystem of a scheme, and of a path |
| `open_file.py` | files opened and compared with what the plan saw |
| `watching.py` | how far a long look at files is |
| `local/` | the disks of this machine: listing, reading, and the moves, journal and recovery of a commit |
"""
