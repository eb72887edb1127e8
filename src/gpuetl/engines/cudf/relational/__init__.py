"""The handlers of operations: rows, aggregates, joins, windows, users' kernels, exchanges."""
