# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the helper packages of *Dive into Deep Learning*, for its chapters on MXNet.

``import afterglow.as_mxnet`` lets ``import d2lzh``, ``import d2l`` and ``from d2l import mxnet as
d2l`` find them where the packages themselves are not installed. They have the functions that
its chapters call; figures are drawn only where Matplotlib is there.
"""
