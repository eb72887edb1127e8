"""A rehearsal of a plan before its rows are there: it names the kernels that the run is going to need."""
