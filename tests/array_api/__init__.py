"""The Array API standard's own tests: how they are run, and which of them fail and why."""
