"""Tests of the dialects, which compare with recorded answers of the real libraries."""
