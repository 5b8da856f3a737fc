"""PyTorch's names and habits, over Wengert's operations."""
