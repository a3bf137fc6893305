# SPDX-License-Identifier: Apache-2.0
"""What the Chinese book's helpers have for its single subjects: a module for each.

What both books have alike is that of :mod:`afterglow.books.english`.
"""
