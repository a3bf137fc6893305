# SPDX-License-Identifier: Apache-2.0
"""``mx.kv``: values shared between the devices of one process, and stores that others plug in."""

from __future__ import annotations

from . import base, kvstore
from .base import KVStoreBase, create
from .kvstore import KVStore

__all__ = ["KVStore", "KVStoreBase", "base", "create", "kvstore"]
