"""The plan's other operations, a file each: a handler that takes frames and gives one."""
