"""Lines, positions, diffs and fingerprints of text: light, no I/O."""
