"""Makes `python -m plgd_cli` the same as `plgd`."""

import sys

from plgd_cli.main import main

__all__ = ()

if __name__ == "__main__":
    sys.exit(main())
