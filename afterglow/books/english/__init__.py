# SPDX-License-Identifier: Apache-2.0
"""What the English book's helpers have for its single subjects: a module for each."""
