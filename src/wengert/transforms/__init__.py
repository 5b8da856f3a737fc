"""What a user asks for, in terms of the engine."""
