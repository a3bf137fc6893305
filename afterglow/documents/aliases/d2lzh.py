# SPDX-License-Identifier: Apache-2.0
"""What ``import d2lzh`` finds first: the installed package, else the stand-in."""

from afterglow.documents.stand_ins import import_elsewhere

import_elsewhere(__name__, __file__)
