# SPDX-License-Identifier: Apache-2.0
"""Whole programs, from files of data to trained networks, as books have them.

They are written for MXNet and run with it as well: what they import is ``mxnet``, which
``import afterglow.as_mxnet`` lets mean Afterglow. Weights follow from their names and data from a
seed (``data.py``), so that both libraries take the same steps. ``losses.json`` has MXNet's losses:

    python -m tests.whole_programs            # runs them and tells how far they are from MXNet's
    python -m tests.whole_programs --record   # with MXNet 1.9.1: writes losses.json

A program is a function of the folder of its data and of whether it hybridizes its networks. Which
arrays it uses, those of ``nd`` or of ``np``, is said by ``npx.set_np()``.
"""
