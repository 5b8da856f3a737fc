"""Programs that run as they are, with TensorFlow or with Wengert; beside each what it prints."""
