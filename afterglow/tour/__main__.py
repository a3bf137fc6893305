# SPDX-License-Identifier: Apache-2.0
"""``python -m afterglow.tour`` is ``afterglow tour``."""

import sys

from ..cli import main

sys.exit(main(["tour", *sys.argv[1:]]))
