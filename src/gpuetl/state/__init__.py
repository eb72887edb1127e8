"""What a pipeline remembers between runs: a folder of JSON and Arrow files, on this machine or in an object store.

state.json            what the last successful run left; it changes in the commit of the sinks
sources/  windows/    Arrow files that state.json names
runs/                 a manifest of each run
checkpoints/          kept rows of stages

Only `state.json` decides.  Files that it does not name are of runs that did not commit, and are removed later.  The
idea is that of Iceberg and Delta: data first, under names that no other run gives, and then one file that makes it
valid.
"""
