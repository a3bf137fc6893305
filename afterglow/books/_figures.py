# SPDX-License-Identifier: Apache-2.0
"""Figures: drawn by Matplotlib where it is installed; else the calls do nothing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

_FORMATS = ("-", "m--", "g-.", "r:")


class Nothing:
    """Takes every call and draws nothing."""

    def __repr__(self) -> str:
        return "<no figure: Matplotlib is not installed>"

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **options: Any) -> Nothing:
        return self

    def __getitem__(self, key: object) -> Nothing:
        return self

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def __iter__(self) -> Iterator[Nothing]:
        return iter(())

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def subplots(self, *args: Any, **options: Any) -> tuple[Nothing, Nothing]:
        """Return what stands for a figure and its axes."""
        return self, self


def pyplot() -> Any:
    """Return Matplotlib's ``pyplot``, or what takes its calls where it is not installed."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return Nothing()


def _host(values: Any) -> Any:
    return values.asnumpy() if hasattr(values, "asnumpy") else values


def use_svg_display() -> None:
    """Do nothing: notebooks choose the format of figures themselves."""


def set_figsize(figsize: tuple[float, float] = (3.5, 2.5)) -> None:
    """Set the size of figures."""
    pyplot().rcParams["figure.figsize"] = figsize


def set_axes(
    axes: Any,
    xlabel: Any,
    ylabel: Any,
    xlim: Any,
    ylim: Any,
    xscale: Any,
    yscale: Any,
    legend: Any,
) -> None:
    """Give axes their labels, limits, scales and a legend."""
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale, xlim=xlim, ylim=ylim)
    if legend:
        axes.legend(legend)
    axes.grid()


def _curves(values: Any) -> list[Any]:
    """Return a list of curves: one of numbers becomes one curve."""
    values = _host(values)
    if hasattr(values, "ndim"):
        return [values] if values.ndim == 1 else list(values)
    return [_host(one) for one in values] if hasattr(values[0], "__len__") else [values]


def plot(
    X: Any,  # noqa: N803
    Y: Any = None,  # noqa: N803
    xlabel: str | None = None,
    ylabel: str | None = None,
    legend: Sequence[str] | None = None,
    xlim: Any = None,
    ylim: Any = None,
    xscale: str = "linear",
    yscale: str = "linear",
    fmts: Sequence[str] = _FORMATS,
    figsize: tuple[float, float] = (3.5, 2.5),
    axes: Any = None,
) -> None:
    """Draw curves: of ``Y`` over ``X``, or of ``X`` over its positions."""
    set_figsize(figsize)
    axes = axes or pyplot().gca()
    xs, ys = _curves(X), [] if Y is None else _curves(Y)
    if not ys:
        xs, ys = [range(len(one)) for one in xs], xs
    axes.cla()
    for number, one in enumerate(ys):
        axes.plot(xs[number % len(xs)], one, fmts[number % len(fmts)])
    set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend)


def semilogy(
    x_vals: Any,
    y_vals: Any,
    x_label: str,
    y_label: str,
    x2_vals: Any = None,
    y2_vals: Any = None,
    legend: Sequence[str] | None = None,
    figsize: tuple[float, float] = (3.5, 2.5),
) -> None:
    """Draw one or two curves with a logarithmic scale."""
    set_figsize(figsize)
    plt = pyplot()
    plt.xlabel(x_label)
    plt.ylabel(y_label)
    plt.semilogy(_host(x_vals), _host(y_vals))
    if x2_vals is not None and y2_vals is not None:
        plt.semilogy(_host(x2_vals), _host(y2_vals), linestyle=":")
        plt.legend(legend)
    plt.show()


def show_trace_2d(f: Any, results: Sequence[tuple[float, float]]) -> None:
    """Draw the way of an optimizer over the contours of a function of two numbers."""
    import numpy

    firsts, seconds = zip(*results, strict=True)
    set_figsize()
    plt = pyplot()
    plt.plot(firsts, seconds, "-o", color="#ff7f0e")
    low, high = min(-3.0, min(seconds) - 1), max(1.0, max(seconds) + 1)
    x1, x2 = numpy.meshgrid(numpy.arange(-5.5, 1.0, 0.1), numpy.arange(low, high, 0.1))
    plt.contour(x1, x2, f(x1, x2), colors="#1f77b4")
    plt.xlabel("x1")
    plt.ylabel("x2")


class Animator:
    """Curves that grow during training; their points are in ``X`` and ``Y``."""

    def __init__(
        self,
        xlabel: str | None = None,
        ylabel: str | None = None,
        legend: Sequence[str] | None = None,
        xlim: Any = None,
        ylim: Any = None,
        xscale: str = "linear",
        yscale: str = "linear",
        fmts: Sequence[str] = _FORMATS,
        nrows: int = 1,
        ncols: int = 1,
        figsize: tuple[float, float] = (3.5, 2.5),
    ) -> None:
        self.fig, axes = pyplot().subplots(nrows, ncols, figsize=figsize)
        self.axes = [axes] if nrows * ncols == 1 else axes
        self.fmts = fmts
        self.X: list[list[Any]] = []
        self.Y: list[list[Any]] = []
        self._setting = (xlabel, ylabel, xlim, ylim, xscale, yscale, legend)

    def add(self, x: Any, y: Any) -> None:
        """Add a point to each of the curves; ``None`` leaves one as it is."""
        ys = list(y) if hasattr(y, "__len__") else [y]
        xs = list(x) if hasattr(x, "__len__") else [x] * len(ys)
        while len(self.X) < len(ys):
            self.X.append([])
            self.Y.append([])
        for number, (one, value) in enumerate(zip(xs, ys, strict=True)):
            if one is not None and value is not None:
                self.X[number].append(one)
                self.Y[number].append(value)
        self.axes[0].cla()
        for number, (x_points, y_points) in enumerate(zip(self.X, self.Y, strict=True)):
            self.axes[0].plot(x_points, y_points, self.fmts[number % len(self.fmts)])
        set_axes(self.axes[0], *self._setting)
