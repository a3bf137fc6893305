# SPDX-License-Identifier: Apache-2.0
"""``mx.gluon``."""
