"""The handlers of operations: rows, aggregates, joins, windows, kernels, exchanges."""
