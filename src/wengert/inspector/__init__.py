"""The inspector: a page that shows what depends on what. Not: rules, sweeps, explanations."""

from wengert.inspector.ways_in import Inspector, inspect, inspect_tape

__all__ = ["Inspector", "inspect", "inspect_tape"]
