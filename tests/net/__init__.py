# SPDX-License-Identifier: Apache-2.0
"""What every public function answers, refuses and is called, written down to be compared.

``python -m tests.net record FILE`` writes a line for every case, ``compare FILE`` tells which lines
are others by now, and ``time`` measures the rows of :mod:`.rows`. A change that shall keep what the
library does is made between a ``record`` and a ``compare``. Only public names are used.

A line is ``kind, subject, case, outcome``, parted by tabs. :mod:`.bits` has the values, gradients
and second gradients of all records of ``tests/ndarray``, :mod:`.programs` those of programs, graphs
and layers whose answers MXNet gave, :mod:`.errors` what becomes of wrong calls, :mod:`.names` the
public names. The cases are those of other tests (:mod:`.tables`): an op that has a record is here.
"""
