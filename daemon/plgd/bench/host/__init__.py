"""The time of plgd's own loop, without a model."""
