"""torch.nn: functions, modules, initialisation, and what goes with them."""
