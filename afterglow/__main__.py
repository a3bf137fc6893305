# SPDX-License-Identifier: Apache-2.0
"""``python -m afterglow`` is the command ``afterglow``."""

import sys

from .cli import main

sys.exit(main())
