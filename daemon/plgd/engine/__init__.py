"""Drafting, acceptance and pace, in integers only: tokens in, tokens out."""
