"""Drafting replayed on edits whose reply is known, without a model."""
