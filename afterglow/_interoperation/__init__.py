# SPDX-License-Identifier: Apache-2.0
"""Arrays and functions of other libraries: NumPy, DLPack, work that the host does."""
