"""The disks of this machine, and what is mounted there."""
