"""Whole programs as users write them and tutorials teach them, by topic."""
