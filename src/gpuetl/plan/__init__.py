"""The logical plan: what a pipeline computes, as a graph of nodes with known schemas.  No engine code."""
