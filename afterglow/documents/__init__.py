# SPDX-License-Identifier: Apache-2.0
"""Scripts, notebooks and chapters of books as programs: their cells, and running them.

:func:`execute` runs a file the way ``afterglow run`` does; :func:`read` gives the cells of a
document.
"""

from .cells import Cell, Document, DocumentError
from .reading import read
from .running import execute

__all__ = ["Cell", "Document", "DocumentError", "execute", "read"]
