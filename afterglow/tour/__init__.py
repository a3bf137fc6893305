# SPDX-License-Identifier: Apache-2.0
"""The tour: the ideas of asynchronous arrays, one chapter each, measured on this machine.

``afterglow tour`` prints the chapters and writes a page with pictures. Each chapter is a module in
``chapters``; all its sentences are in ``words``, one table per language.
"""
