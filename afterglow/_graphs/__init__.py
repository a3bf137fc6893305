# SPDX-License-Identifier: Apache-2.0
"""Graphs of symbols for whoever writes, prints or draws them."""
