"""torch.nn: functions, modules, initialisation; `table.py` says which files are loaded at once."""
