"""Rows of files as frames."""
