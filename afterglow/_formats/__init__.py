# SPDX-License-Identifier: Apache-2.0
"""Files that MXNet writes: arrays, and pickles that are read as data."""
