"""The GPU engine: libcudf through pylibcudf where it says what the contract says, generated and own kernels elsewhere."""
