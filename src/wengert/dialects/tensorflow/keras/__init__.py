"""What a loop with a GradientTape takes from tf.keras: optimisers, losses, metrics and the like."""
