"""Edits with a computable right answer, one family per module."""
