"""Which models there are and how they come to this machine."""
