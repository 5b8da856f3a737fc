"""TensorFlow's names and habits; `wengert.tensorflow` is the module that users import."""
