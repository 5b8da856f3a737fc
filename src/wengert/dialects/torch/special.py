"""torch.special: functions with names."""
