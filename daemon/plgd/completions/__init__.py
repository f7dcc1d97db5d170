"""Completions: a conversation goes on, drafted from what is expected and from what was said."""
