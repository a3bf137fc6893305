# SPDX-License-Identifier: Apache-2.0
"""Names and defaults that programs for MXNet expect of other packages, and that these gave up.

Programs and helper packages from MXNet's time were written for Python 3.8, NumPy 1.23, pandas 1 and
their kin: d2lzh calls ``IPython.display.set_matplotlib_formats``, chapters tell columns of text by
the type ``object``. None of them is changed any more, so what they use is put back: at once in
packages that are loaded, in others when they are. What a package still has is left as it is.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from functools import wraps
from typing import Any

from .books_without_gpus import train_without_gpus
from .points_of_arrays import draw_points_of_arrays
from .removed_names import adapt_when_loaded, are_wanted, put_back


def _set_matplotlib_formats(*formats: str, **options: Any) -> None:
    """Choose the formats of figures in a notebook; elsewhere there is nothing to choose."""
    if importlib.import_module("IPython").get_ipython() is not None:
        inline = importlib.import_module("matplotlib_inline.backend_inline")
        inline.set_matplotlib_formats(*formats, **options)


def _display(module: Any) -> None:
    """``IPython.display`` chose the formats of figures until IPython 9."""
    if not hasattr(module, "set_matplotlib_formats"):
        module.set_matplotlib_formats = _set_matplotlib_formats


def _pyplot(module: Any) -> None:
    """``stem`` could be told to draw lines as a collection, which it always does since 3.8."""
    stem = getattr(module, "stem", None)
    if stem is None or "use_line_collection" in inspect.signature(stem).parameters:
        return

    @wraps(stem)
    def with_choice(*args: Any, use_line_collection: object = None, **options: Any) -> Any:
        return stem(*args, **options)

    module.stem = with_choice


def _pandas(module: Any) -> None:
    """Indicators were numbers until pandas 2, and columns of text objects until pandas 3.

    Columns of numbers and indicators are one array of numbers then, ready for ``nd.array``. Until
    pandas 2 the separator of a table could be given by its place.
    """
    version = int(module.__version__.split(".")[0])
    if version >= 2:
        get_dummies, read_csv = module.get_dummies, module.read_csv

        @wraps(read_csv)
        def with_separator(*args: Any, **options: Any) -> Any:
            if len(args) == 2:
                options["sep"] = args[1]
                args = args[:1]
            return read_csv(*args, **options)

        module.read_csv = with_separator

        @wraps(get_dummies)
        def of_numbers(*args: Any, **options: Any) -> Any:
            if inspect.signature(get_dummies).bind(*args, **options).arguments.get("dtype") is None:
                options["dtype"] = "uint8"
            return get_dummies(*args, **options)

        module.get_dummies = of_numbers
    if version == 3:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas 3.1 says that version 4 has no such choice
            module.set_option("future.infer_string", False)


def put_back_older_names() -> None:
    """Give other packages what they had in MXNet's time, unless ``AFTERGLOW_OLDER_NAMES`` is 0."""
    if not are_wanted():
        return
    put_back()
    adapt_when_loaded(
        {
            "IPython.display": _display,
            "d2l.mxnet": train_without_gpus,
            "matplotlib.axes": draw_points_of_arrays,
            "matplotlib.pyplot": _pyplot,
            "pandas": _pandas,
        }
    )
