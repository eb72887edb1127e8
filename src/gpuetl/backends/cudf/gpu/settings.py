"""What the engine sets on a GPU; nothing is imported to know it."""

KVIKIO_THREADS = "16"
"""Of KvikIO, as its variable in the environment says: 32 are no faster, and libcudf would take 4."""
POOL_SHARE = 0.9
"""Of the memory that is free when the engine starts; what is beyond it is for the context, modules and others."""
