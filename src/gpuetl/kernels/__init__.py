"""For users' kernels: the segmented scan for their twins, and the check of a kernel against its twin."""
