"""Tests of torch.nn: functions, modules, initialisation and utilities."""
