"""``python -m toolspan_bridge`` is ``toolspan``."""

import sys

from .cli import main

sys.exit(main())
