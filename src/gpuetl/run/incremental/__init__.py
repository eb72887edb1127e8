"""What a run reads of incremental sources, and what it leaves for the next one."""
