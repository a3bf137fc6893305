# SPDX-License-Identifier: Apache-2.0
"""The package itself: how it starts, what its modules show, where it runs."""
