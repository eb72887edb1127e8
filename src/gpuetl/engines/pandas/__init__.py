"""The pandas engine: what runs where there is no GPU, and the oracle.

Its frames are Arrow tables, which pandas' Arrow types wrap without a copy; filters and arithmetic are pyarrow's
checked and Kleene kernels, group-by is Acero's on encoded keys, windows are NumPy scans.  Nothing here is shared
with another backend.

    pandas_engine.py     what executors ask for; imports the handler of every operation
    pandas_operation.py   the table of handlers, one for each node of the plan
    columns/       columns as arrays with masks, taken by row, and as numbers to group and to sort by
    expressions/   evaluation, casts, decimals, times; functions/ has the handlers of scalar functions
    sources/       Read
    joins/         Join
    aggregates/    Aggregate; aggregate.py has the table of handlers
    windows/       Window; functions.py has the table of handlers
    operations/    every other node, a file each

A room imports from those above it; relational/kernel.py sorts its groups as windows do.
"""
