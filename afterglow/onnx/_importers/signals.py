# SPDX-License-Identifier: Apache-2.0
"""Transforms of Fourier, and what sound needs with them. NumPy computes these."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .types import dtype_named

Host = onp.ndarray[Any, Any]


def _complex(x: Host) -> Host:
    """Return numbers whose last axis has the real part, or both."""
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0] + 0j


def _parts(x: Host, like: Host) -> Host:
    return onp.stack([x.real, x.imag], axis=-1).astype(like.dtype)


@imports("DFT", on_host=True)
def _dft(node: Node) -> Any:
    """The axis is an input since version 20, and its default another."""
    x = node[0]
    axis = node.get("axis", 1) if node.version < 20 else int(node.number(2, -2))
    length = int(node.number(1)) if node.has(1) else None
    is_onesided = bool(node.get("onesided", 0))
    values = _complex(x)
    if node.get("inverse", 0):
        if is_onesided:
            real = onp.fft.irfft(values, length, axis=axis)
            return real[..., None].astype(x.dtype)
        return _parts(onp.fft.ifft(values, length, axis=axis), x)
    found = onp.fft.fft(values, length, axis=axis)
    if is_onesided:
        found = onp.take(found, onp.arange(found.shape[axis] // 2 + 1), axis=axis)
    return _parts(found, x)


@imports("STFT", on_host=True)
def _stft(node: Node) -> Any:
    """Transforms of stretches of a signal, each seen through a window."""
    signal, step = node[0], int(node.number(1))
    window = node[2] if node.has(2) else None
    length = int(node.number(3, 0 if window is None else len(window)))
    values = _complex(signal if signal.ndim == 3 else signal[..., None])
    count = (values.shape[1] - length) // step + 1
    places = onp.arange(count)[:, None] * step + onp.arange(length)
    frames = values[:, places] * (1 if window is None else window)
    found = onp.fft.fft(frames, axis=-1)
    if node.get("onesided", 1):
        found = found[..., : length // 2 + 1]
    return _parts(found, signal)


@imports("MelWeightMatrix", on_host=True)
def _mel_weight_matrix(node: Node) -> Any:
    """Triangles over the frequencies of a transform, equally wide as ears hear them."""
    bands, length, rate = (int(node.number(index)) for index in range(3))
    low, high = float(node.number(3)), float(node.number(4))

    def mel(frequency: float) -> float:
        return float(2595 * onp.log10(1 + frequency / 700))

    step = (mel(high) - mel(low)) / (bands + 2)
    edges = onp.arange(bands + 2) * step + mel(low)
    bins = (700 * (10 ** (edges / 2595) - 1) * (length + 1) // rate).astype(int)
    found = onp.zeros((length // 2 + 1, bands))
    for band in range(bands):
        left, middle, right = bins[band : band + 3]
        if middle == left:
            found[middle, band] = 1
        else:
            found[left : middle + 1, band] = onp.arange(middle - left + 1) / (middle - left)
        if right > middle:
            found[middle:right, band] = (right - onp.arange(middle, right)) / (right - middle)
    return found.astype(dtype_named(node.get("output_datatype", 1)))


#: ONNX's name: the shares of the cosines that a window is made of.
_WINDOWS = {
    "BlackmanWindow": (0.42, 0.5, 0.08),
    "HammingWindow": (25 / 46, 21 / 46, 0.0),
    "HannWindow": (0.5, 0.5, 0.0),
}


@imports(*_WINDOWS, on_host=True)
def _window(node: Node) -> Any:
    first, second, third = _WINDOWS[node.step.op]
    size = int(node.number(0))
    angle = 2 * onp.pi * onp.arange(size) / (size if node.get("periodic", 1) else size - 1)
    found = first - second * onp.cos(angle) + third * onp.cos(2 * angle)
    return found.astype(dtype_named(node.get("output_datatype", 1)))
