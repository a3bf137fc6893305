# SPDX-License-Identifier: Apache-2.0
"""What arrays of both worlds are: types, shapes, keys, text, and ops by name."""
