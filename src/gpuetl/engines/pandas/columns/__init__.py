"""The columns of a frame: as arrays with masks, taken by row, and as keys in numbers that are grouped and sorted by."""
