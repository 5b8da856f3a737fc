"""``python -m wengert`` is the command `wengert`."""

import sys

from wengert.cli import main

sys.exit(main())
