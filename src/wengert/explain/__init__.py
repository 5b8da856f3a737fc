"""Explanations: the user's line, and why a value leaves a tape; computes nothing itself."""
