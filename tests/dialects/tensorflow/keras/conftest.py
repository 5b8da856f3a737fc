"""Keras is loaded on Wengert before anything asks the real TensorFlow, which loads it too."""

from __future__ import annotations

import pytest

import wengert.tensorflow as tf
from tests.conftest import asks_for_peers


def pytest_collection_finish(session: pytest.Session) -> None:
    if asks_for_peers(session.config):
        tf.keras  # noqa: B018
