"""One file an operation that looks at one row, or at whole frames."""
