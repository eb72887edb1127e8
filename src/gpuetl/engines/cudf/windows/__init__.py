"""Windows: what each function folds rows into or reads of its group, and the scans, frames and rows that compute it."""
