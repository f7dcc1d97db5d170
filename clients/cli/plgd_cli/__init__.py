"""The `plgd` command."""
