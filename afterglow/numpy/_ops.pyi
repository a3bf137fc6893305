# SPDX-License-Identifier: Apache-2.0
# Written by `python -m tests.stubs`.

__all__ = []
