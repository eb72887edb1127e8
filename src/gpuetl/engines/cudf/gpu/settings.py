"""What the engine sets on a GPU; nothing is imported to know it."""

KVIKIO_THREADS = "16"
"""Of KvikIO, as its variable in the environment says: 32 are no faster, and libcudf would take 4."""
ENVIRONMENT = {"KVIKIO_NTHREADS": KVIKIO_THREADS, "LIBCUDF_MMAP_ENABLED": "OFF"}
"""Variables that are set before libcudf reads for the first time, where the user has not set them.

A file that libcudf has mapped, and that is cut off meanwhile, would end the process by SIGBUS.
"""
HOST_VALUES = 1_000_000
"""Values that Arrow reads from Parquet files, and copies to the device, sooner than libcudf reads them.

Measured on an H200 and 16 cores, 4 columns, one of strings, from the page cache: 400,000 values 5.9 ms, libcudf 10.2;
2,000,000 values 21.9 ms, libcudf 13.5.
"""
HOST_VALUES_AT_FIRST = 4_000_000
"""The same for what a process reads first: libcudf then takes 70 to 95 ms longer."""
POOL_SHARE = 0.9
"""Of the memory that is free when the engine starts; what is beyond it is for the context, modules and others."""
WORTH_COMPILING = 1_000_000
"""Rows of an expression whose own kernel is compiled for later runs while instructions compute this one's."""
