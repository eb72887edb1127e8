"""A twin's file that does not import."""

raise RuntimeError("not today")
