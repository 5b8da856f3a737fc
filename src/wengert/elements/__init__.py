"""Elements: selections, what one depends on, and what its derivative costs; no operations."""
