# SPDX-License-Identifier: Apache-2.0
"""What notebooks and IPython get: values as small tables, cells in errors, ``%%trace``."""
