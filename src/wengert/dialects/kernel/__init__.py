"""The kernel of the dialects: functions made from signatures; no framework, no operation."""
