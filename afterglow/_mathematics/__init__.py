# SPDX-License-Identifier: Apache-2.0
"""Mathematics over arrays that is more than an op of the core."""
