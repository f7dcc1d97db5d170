"""The version of the distribution; the daemon and its clients compare it in `hello`."""

__all__ = ("__version__",)

__version__ = "0.1.0"
