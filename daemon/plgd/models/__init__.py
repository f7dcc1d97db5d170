"""Models: the catalog, the files on disk, and fetching them. Never imports mlx."""
