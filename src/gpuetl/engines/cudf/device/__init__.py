"""Device code: a header a family, and how types, columns and headers are spelled in the text of a kernel."""
