"""Explanations: the user's line, why a value leaves a tape, what a tape holds and costs."""
