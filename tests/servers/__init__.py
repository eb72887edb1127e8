"""Real servers on loopback, which tests start and stop: an S3 server, Azurite, a plain HTTP server with ranges.

Each is a process of its own, started once for a test process, on a free port.
"""
