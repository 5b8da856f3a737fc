"""Tests of optimisers, schedules and solvers."""
