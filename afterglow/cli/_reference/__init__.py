# SPDX-License-Identifier: Apache-2.0
"""The reference: every public name with its signature and text, as a page and as Markdown."""
