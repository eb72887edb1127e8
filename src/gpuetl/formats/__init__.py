"""File formats: how files of each are found, described, checked, read and written.  `registry.py` lists them."""
