"""Tests of the inspector: the model by itself, the server, and the page in a browser."""
