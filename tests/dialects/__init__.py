"""Tests of the dialects, which compare with what the real libraries answer."""
