"""Object stores as filesystems: S3, Google, Azure, and files of HTTP servers.

| module | what it holds |
|---|---|
| `clients.py` | the client of a store, with its credentials, its limits and its retries |
| `object_filesystem.py` | the filesystem of a store: listing, states, open objects |
| `object_file.py` | one object, read by ranges |
| `ranges.py` | which requests read many ranges of an object |
| `commit/` | how sinks change |
"""
