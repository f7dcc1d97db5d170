"""Measurements: this machine, its models and the policies, side by side with plain mlx-lm."""
