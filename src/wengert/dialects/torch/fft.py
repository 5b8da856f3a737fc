"""torch.fft, windows, and short-time transforms."""
