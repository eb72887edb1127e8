"""Backends hold frames and know every operation on them.  What an executor asks of one is `Backend`."""
