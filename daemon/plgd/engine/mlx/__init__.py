"""The engine's only contact with arrays: mlx-lm's models and caches behind the integer contracts."""
