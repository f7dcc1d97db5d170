"""Load on a daemon of its own: many edits at once, many connections, many requests."""
