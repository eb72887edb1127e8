"""The pandas engine: the fallback where there is no GPU, and the oracle.

Its frames are Arrow tables, which pandas' Arrow types wrap without a copy; filters and arithmetic are pyarrow's
checked and Kleene kernels, group-by is Acero's on encoded keys, windows are NumPy scans.  Nothing here is shared
with another backend.
"""
