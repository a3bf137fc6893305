# SPDX-License-Identifier: Apache-2.0
"""Afterglow: arrays that run ahead of Python."""
