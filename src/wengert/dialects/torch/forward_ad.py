"""Dual numbers."""
