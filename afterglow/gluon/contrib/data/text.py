# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.data.text``: texts in pieces of one length, for models of language."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections import Counter
from shutil import copyfileobj
from typing import Any, ClassVar

import numpy as onp

from .... import ndarray as nd
from ....error import ArrayValueError, FileError
from ...data.vision.datasets import File, _Stored
from ...utils import check_sha1

__all__ = ["WikiText2", "WikiText103"]

#: What zipfile raises for archives that are not whole, or of another kind.
_UNPACKING = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),
)
#: Stands behind every line of a text.
_END = "<eos>"


class _WikiText(_Stored):
    """The words of articles by their numbers in a vocabulary, in pieces of ``seq_len``.

    A sample is a piece and, as its label, the same moved on by a word, both of int32.
    """

    _archive: ClassVar[File]
    _files: ClassVar[dict[str, File]]  #: by segment

    def __init__(
        self, root: str | None = None, segment: str = "train", vocab: Any = None, seq_len: int = 35
    ) -> None:
        if segment not in self._files:
            raise ArrayValueError(
                f"[{type(self).__name__}] the segment is {segment!r}; it must be one of "
                f"{', '.join(self._files)}"
            )
        if seq_len < 1:
            raise ArrayValueError(
                f"[{type(self).__name__}] seq_len is {seq_len}; it must be 1 at least"
            )
        self._segment, self._seq_len, self._vocab = segment, seq_len, vocab
        self._counter: Counter[str] | None = None
        super().__init__(root, segment == "train", None)

    @property
    def vocabulary(self) -> Any:
        """The vocabulary that was given, or was made of the text."""
        return self._vocab

    @property
    def frequencies(self) -> Counter[str] | None:
        """How often the words of the text occur."""
        return self._counter

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx], self._label[idx]

    def _get_data(self) -> None:
        content = self._read(self._text_file())
        self._count(content)
        words = [
            word for line in content.splitlines() if line.split() for word in (*line.split(), _END)
        ]
        numbers = onp.array(self._vocab.to_indices(words), "int32")
        pieces = max(len(numbers) - 1, 0) // self._seq_len
        shape, used = (pieces, self._seq_len), pieces * self._seq_len
        self._data = nd.array(numbers[:used].reshape(shape), dtype="int32")
        self._label = nd.array(numbers[1 : used + 1].reshape(shape), dtype="int32")

    def _count(self, content: str) -> None:
        from ....contrib import text

        self._counter = text.utils.count_tokens_from_str(content)
        if self._vocab is None:
            self._vocab = text.vocab.Vocabulary(self._counter, reserved_tokens=[_END])

    def _text_file(self) -> str:
        """Return where the text is: there already, or unpacked out of the archive."""
        name, sha1 = self._files[self._segment]
        path = self._path(name)
        if not os.path.exists(path) or not check_sha1(path, sha1):
            try:
                self._unpack(self._fetched(self._archive))
            except FileError:
                if not os.path.exists(path):
                    raise
                print(f"{path} is read as it is: it has not the SHA-1 sum {sha1}")
        return path

    def _unpack(self, archive: str) -> None:
        """Put the texts of an archive beside it, whatever folders it has."""
        names = {name for name, _ in self._files.values()}
        try:
            with zipfile.ZipFile(archive) as packed:
                for member in packed.namelist():
                    name = os.path.basename(member)
                    if name in names:
                        part = self._path(f"{name}.part")
                        with packed.open(member) as source, open(part, "wb") as target:
                            copyfileobj(source, target)
                        os.replace(part, self._path(name))
        except _UNPACKING as error:
            raise FileError(
                f"[{type(self).__name__}] {archive!r} is damaged, or cannot be unpacked: {error}"
            ) from None

    def _read(self, path: str) -> str:
        if not os.path.exists(path):
            raise FileError(
                f"[{type(self).__name__}] {self._archive[0]} has no {os.path.basename(path)}"
            )
        with open(path, encoding="utf-8") as file:
            try:
                return file.read()
            except UnicodeDecodeError as error:
                raise FileError(f"[{type(self).__name__}] {path!r} is no text: {error}") from None


class WikiText2(_WikiText):
    """Two million words of good articles of Wikipedia; a sample is ``seq_len`` of them in a row.

    ``segment`` is ``train``, ``validation`` or ``test``. Files are looked for in ``root``,
    ``$MXNET_HOME/datasets/wikitext-2`` unless it is given, and fetched if they are not there.
    ``vocab`` numbers the words, unless the text is to tell which there are; behind every line comes
    ``<eos>``.
    """

    _namespace = "wikitext-2"
    _archive = ("wikitext-2-v1.zip", "3c914d17d80b1459be871a5039ac23e752a53cbe")
    _files: ClassVar[dict[str, File]] = {
        "train": ("wiki.train.tokens", "863f29c46ef9d167fff4940ec821195882fe29d1"),
        "validation": ("wiki.valid.tokens", "0418625c8b4da6e4b5c7a0b9e78d4ae8f7ee5422"),
        "test": ("wiki.test.tokens", "c7b8ce0aa086fb34dab808c5c49224211eb2b172"),
    }


class WikiText103(_WikiText):
    """A hundred million words of articles of Wikipedia, as :class:`WikiText2` has two."""

    _namespace = "wikitext-103"
    _archive = ("wikitext-103-v1.zip", "0aec09a7537b58d4bb65362fee27650eeaba625a")
    _files: ClassVar[dict[str, File]] = {
        "train": ("wiki.train.tokens", "b7497e2dfe77e72cfef5e3dbc61b7b53712ac211"),
        "validation": ("wiki.valid.tokens", "c326ac59dc587676d58c422eb8a03e119582f92b"),
        "test": ("wiki.test.tokens", "8a5befc548865cec54ed4273cf87dbbad60d1e47"),
    }
