"""SciPy's names for programs of HIPS autograd."""

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
