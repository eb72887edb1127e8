"""Windows: functions over sorted rows, family by family, and the scans that they are made of."""
