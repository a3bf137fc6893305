# SPDX-License-Identifier: Apache-2.0
"""``contrib.text.embedding``: vectors of tokens, from files."""

from __future__ import annotations

import json
import logging
import os
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TextIO, TypeAlias

import numpy as onp
from numpy.typing import NDArray as Values

from ... import ndarray as nd
from ... import numpy as np
from ... import registry
from ..._core import Array
from ...base import data_dir
from ...error import ArrayTypeError, ArrayValueError, FileError, MismatchError
from ...gluon.utils import _get_repo_file_url, check_sha1, download, replace_file
from ...util import is_np_array
from .vocab import Vocabulary

__all__ = [
    "CompositeEmbedding",
    "CustomEmbedding",
    "FastText",
    "GloVe",
    "create",
    "get_pretrained_file_names",
    "register",
]

_Rows: TypeAlias = Values[onp.float32]

#: The SHA-1 sums of the files of trained vectors that MXNet knows, and of the archives they are in.
_SUMS: dict[str, dict[str, dict[str, str]]] = json.loads(
    Path(__file__).with_name("pretrained.json").read_text(encoding="utf-8")
)

#: Lines whose numbers are parsed together.
_BLOCK = 4096


class _TokenEmbedding(Vocabulary):
    """A vocabulary with a vector for each token. What programs derive their own kinds from."""

    #: The files that there are of this kind, with their SHA-1 sums.
    pretrained_file_name_sha1: ClassVar[dict[str, str]] = {}

    _vec_len: int
    _idx_to_vec: Any

    @property
    def vec_len(self) -> int:
        """How many elements each vector has."""
        return self._vec_len

    @property
    def idx_to_vec(self) -> Any:
        """The vectors, one row for each number of a token."""
        return self._idx_to_vec

    def get_vecs_by_tokens(self, tokens: Any, lower_case_backup: bool = False) -> Any:
        """Return the vector of a token, or those of a list of tokens as rows.

        ``lower_case_backup`` looks unknown tokens up again in small letters.
        """
        found = [
            self._number(token, lower_case_backup)
            for token in (tokens if isinstance(tokens, list) else [tokens])
        ]
        vectors = self._idx_to_vec[onp.array(found, dtype=onp.int64)]
        return vectors if isinstance(tokens, list) else vectors[0]

    def _number(self, token: Any, lower_case_backup: bool) -> int:
        number = self._token_to_idx.get(token)
        if number is None and lower_case_backup:
            number = self._token_to_idx.get(token.lower())
        return number or 0

    def update_token_vectors(self, tokens: Any, new_vectors: Any) -> None:
        """Replace the vector of a token, or those of a list of tokens; all must be known."""
        names = tokens if isinstance(tokens, list) else [tokens]
        assert isinstance(new_vectors, Array), (
            f"new_vectors must be an array, not {type(new_vectors)}"
        )
        rows = (len(names), self.vec_len)
        shapes = {rows, rows[1:]} if len(names) == 1 else {rows}
        assert new_vectors.shape in shapes, (
            f"new_vectors has shape {new_vectors.shape}; {rows} is needed, for {len(names)} "
            f"tokens with vectors of {self.vec_len}"
        )
        for token in names:
            if token not in self._token_to_idx:
                raise ValueError(
                    f"there is no token {token!r}; the vector of all unknown tokens is that of "
                    f"{self._idx_to_token[0]!r}"
                )
        numbers = onp.array([self._token_to_idx[token] for token in names], dtype=onp.int64)
        self._idx_to_vec[numbers] = new_vectors

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name: str) -> str:
        """Return the name of what is fetched to have a file."""
        return pretrained_file_name

    @classmethod
    def _get_pretrained_file_url(cls, pretrained_file_name: str) -> str:
        return _get_repo_file_url(
            f"gluon/embeddings/{cls.__name__.lower()}",
            cls._get_download_file_name(pretrained_file_name),
        )

    @classmethod
    def _get_pretrained_file(cls, embedding_root: str | None, pretrained_file_name: str) -> str:
        """Return where a file of trained vectors is; fetch it if it is not there."""
        root = Path(data_dir(), "embeddings") if embedding_root is None else Path(embedding_root)
        folder = root.expanduser() / cls.__name__.lower()
        file, address = (
            folder / pretrained_file_name,
            cls._get_pretrained_file_url(pretrained_file_name),
        )
        sums = cls.pretrained_file_name_sha1
        wrong = file.exists()
        if wrong and check_sha1(str(file), sums[file.name]):
            return str(file)
        archive = folder / os.path.basename(address)
        sums = getattr(cls, "pretrained_archive_name_sha1", sums)
        try:
            download(address, str(archive), sha1_hash=sums[archive.name], retries=1)
            _unpack(archive, file)
        except Exception as error:  # whatever went wrong, the advice is the same
            state = f"has another SHA-1 sum than {cls.pretrained_file_name_sha1[file.name]}"
            raise FileError(
                f"[{cls.__name__}] {file} {state if wrong else 'is not there'}, and {address} "
                f"could not be fetched ({error.__cause__ or error}); put {file.name} into "
                f"{folder} yourself"
            ) from None
        return str(file)

    @classmethod
    def _check_pretrained_file_names(cls, pretrained_file_name: str) -> None:
        if pretrained_file_name not in cls.pretrained_file_name_sha1:
            raise KeyError(
                f"there is no file {pretrained_file_name} of {cls.__name__}; there are "
                f"{', '.join(cls.pretrained_file_name_sha1)}"
            )

    def _load_embedding(
        self,
        pretrained_file_path: str,
        elem_delim: str,
        init_unknown_vec: Callable[..., Any],
        encoding: str = "utf8",
    ) -> None:
        """Number the tokens of a file, and keep their vectors.

        Tokens that had a number before, such as the unknown one, keep it; those that are not in the
        file get the vector of ``init_unknown_vec``.
        """
        path = os.path.expanduser(pretrained_file_path)
        if not os.path.isfile(path):
            raise ArrayValueError(f"[{type(self).__name__}] there is no file {path}")
        logging.info("Loading pre-trained token embedding vectors from %s", path)
        before = dict(self._token_to_idx)
        own: dict[int, _Rows] = {}  # vectors of tokens that had a number before
        width, parts = 0, list[_Rows]()
        with open(path, encoding=encoding) as file:
            for first, tokens, rows in _rows_of(file, elem_delim, path):
                kept = []
                for row, token in enumerate(tokens):
                    number = before.get(token)
                    if number is not None and number not in own:
                        own[number] = rows[row]
                    elif token in self._token_to_idx:
                        warnings.warn(
                            f"line {first + row} of {path} has another vector of {token!r}; the "
                            "first one is kept",
                            stacklevel=3,
                        )
                    elif rows.shape[1] == 1:
                        warnings.warn(
                            f"line {first + row} of {path} has one number, after {token!r}, and "
                            "is passed over: it seems to be a header",
                            stacklevel=3,
                        )
                    elif width and rows.shape[1] != width:
                        raise MismatchError(
                            f"[{type(self).__name__}] line {first + row} of {path}: the vector of "
                            f"{token!r} has {rows.shape[1]} elements; those before it have {width}"
                        )
                    else:
                        width = rows.shape[1]
                        kept.append(row)
                        self._token_to_idx[token] = len(self._idx_to_token)
                        self._idx_to_token.append(token)
                if kept:
                    parts.append(rows if len(kept) == len(tokens) else rows[kept])
        if not parts:
            raise ArrayTypeError(f"[{type(self).__name__}] {path} has no vector of any token")
        head = onp.empty((len(before), width), dtype=onp.float32)
        if len(own) < len(before):
            head[:] = onp.asarray(init_unknown_vec(shape=width))
        for number, vector in own.items():
            if len(vector) not in (1, width):
                raise MismatchError(
                    f"[{type(self).__name__}] the vector of {self._idx_to_token[number]!r} in "
                    f"{path} has {len(vector)} elements; the others have {width}"
                )
            head[number] = vector
        self._vec_len = width
        self._idx_to_vec = _array(onp.concatenate([head, *parts]))

    def _build_embedding_for_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Keep the tokens of a vocabulary and no others."""
        if vocabulary is not None:
            _check_vocabulary(vocabulary)
            self._set_idx_to_vec_by_embeddings([self], len(vocabulary), vocabulary.idx_to_token)
            self._index_tokens_from_vocabulary(vocabulary)

    def _index_tokens_from_vocabulary(self, vocabulary: Vocabulary) -> None:
        self._token_to_idx = vocabulary.token_to_idx.copy()
        self._idx_to_token = vocabulary.idx_to_token[:]
        self._unknown_token = vocabulary.unknown_token
        reserved = vocabulary.reserved_tokens
        self._reserved_tokens = None if reserved is None else reserved[:]

    def _set_idx_to_vec_by_embeddings(
        self,
        token_embeddings: list[_TokenEmbedding],
        vocab_len: int,
        vocab_idx_to_token: list[Any],
    ) -> None:
        """Put the vectors that several embeddings have for each token beside each other."""
        tokens = vocab_idx_to_token[1:vocab_len]
        columns = [
            one.idx_to_vec[onp.array([0, *(one.token_to_idx.get(token, 0) for token in tokens)])]
            for one in token_embeddings
        ]
        self._vec_len = sum(one.vec_len for one in token_embeddings)
        self._idx_to_vec = (
            np.concatenate(columns, axis=1) if is_np_array() else nd.concat(*columns, dim=1)
        )


def _array(values: _Rows) -> Any:
    return np.array(values) if is_np_array() else nd.array(values)


def _check_vocabulary(vocabulary: Any) -> None:
    assert isinstance(vocabulary, Vocabulary), (
        f"vocabulary must be a contrib.text.vocab.Vocabulary, not {type(vocabulary)}"
    )


def _rows_of(file: TextIO, delimiter: str, path: str) -> Iterator[tuple[int, list[str], _Rows]]:
    """Give tokens and their vectors, with the number of the first line, for some lines at a time.

    Lines that do not fit together are given one by one, so that an error can name one.
    """
    number = 1
    while lines := [line.rstrip().partition(delimiter) for line in islice(file, _BLOCK)]:
        rows = _parsed([rest for _, _, rest in lines], delimiter)
        if rows is not None:
            yield number, [token for token, _, _ in lines], rows
        else:
            for place, (token, found, rest) in enumerate(lines, number):
                where = f"[embedding] line {place} of {path}"
                if not found:
                    raise MismatchError(f"{where}: there is no vector after {token!r}")
                try:
                    values = [float(value) for value in rest.split(delimiter)]
                except ValueError as error:
                    raise ArrayValueError(f"{where}, the vector of {token!r}: {error}") from None
                yield place, [token], onp.array([values], dtype=onp.float32)
        number += len(lines)


def _parsed(lines: list[str], delimiter: str) -> _Rows | None:
    """Return the numbers of lines as rows, unless some line is not as the others are."""
    if len(delimiter) != 1 or not all(lines):  # an empty line would be passed over
        return None
    try:
        return onp.loadtxt(lines, dtype=onp.float32, comments=None, delimiter=delimiter, ndmin=2)
    except (TypeError, ValueError):
        return None


def _unpack(archive: Path, file: Path) -> None:
    """Put a file that is in an archive in its place, when it is complete."""
    with TemporaryDirectory(dir=file.parent) as folder:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as members:
                members.extract(file.name, folder)
        elif archive.suffix == ".gz":
            with tarfile.open(archive) as files:
                files.extract(file.name, folder, filter="data")
        else:
            return
        replace_file(os.path.join(folder, file.name), str(file))


_register = registry.get_register_func(_TokenEmbedding, "token embedding")
_create = registry.get_create_func(_TokenEmbedding, "token embedding")


def register(embedding_cls: type) -> type:
    """Make a kind of embeddings known to ``create`` by its name. A decorator."""
    return _register(embedding_cls)


def create(embedding_name: str, **kwargs: Any) -> Any:
    """Make an embedding of a kind, in whatever letters it is written; the rest goes to its class.

    For example ``create("glove", pretrained_file_name="glove.6B.50d.txt")``.
    """
    return _create(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """Return the names of the files of trained vectors: of one kind, or a dictionary of all.

    >>> from afterglow.contrib import text
    >>> text.embedding.get_pretrained_file_names("glove")[1]
    'glove.6B.50d.txt'
    """
    known: dict[str, Any] = registry.get_registry(_TokenEmbedding)
    if embedding_name is None:
        return {name: [*kind.pretrained_file_name_sha1] for name, kind in known.items()}
    if embedding_name not in known:
        raise KeyError(f"there is no embedding {embedding_name}; there are {', '.join(known)}")
    return [*known[embedding_name].pretrained_file_name_sha1]


@register
class GloVe(_TokenEmbedding):
    """Vectors of words by GloVe, from https://nlp.stanford.edu/projects/glove.

    The file is looked for in ``embedding_root/glove``, and fetched if it is not there;
    ``embedding_root`` is ``$MXNET_HOME/embeddings`` unless it is given. With a ``vocabulary`` its
    tokens are kept, otherwise all of the file. ``init_unknown_vec`` makes the vector of unknown
    tokens, and other arguments are those of a ``Vocabulary``.
    """

    pretrained_archive_name_sha1 = _SUMS["glove"]["archives"]
    pretrained_file_name_sha1 = _SUMS["glove"]["files"]

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name: str) -> str:
        corpus = pretrained_file_name.split(".")[1]
        archives = cls.pretrained_archive_name_sha1
        return next(name for name in archives if name.split(".")[1] == corpus)

    def __init__(
        self,
        pretrained_file_name: str = "glove.840B.300d.txt",
        embedding_root: str | None = None,
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        path = self._get_pretrained_file(embedding_root, pretrained_file_name)
        self._load_embedding(path, " ", init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)


@register
class FastText(_TokenEmbedding):
    """Vectors of words by fastText, from https://fasttext.cc.

    The file is looked for in ``embedding_root/fasttext``, and fetched if it is not there. The
    arguments are those of ``GloVe``.
    """

    pretrained_archive_name_sha1 = _SUMS["fasttext"]["archives"]
    pretrained_file_name_sha1 = _SUMS["fasttext"]["files"]

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name: str) -> str:
        return f"{pretrained_file_name.rpartition('.')[0]}.zip"

    def __init__(
        self,
        pretrained_file_name: str = "wiki.simple.vec",
        embedding_root: str | None = None,
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        path = self._get_pretrained_file(embedding_root, pretrained_file_name)
        self._load_embedding(path, " ", init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)


class CustomEmbedding(_TokenEmbedding):
    r"""Vectors from a file with lines of a token and its numbers, with ``elem_delim`` between.

    >>> import tempfile
    >>> from afterglow.contrib import text
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     print("sun 1 2", "moon 3 4", sep="\n", file=file, flush=True)
    ...     sky = text.embedding.CustomEmbedding(file.name)
    >>> sky.get_vecs_by_tokens(["moon", "star"]).asnumpy().tolist()
    [[3.0, 4.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        pretrained_file_path: str,
        elem_delim: str = " ",
        encoding: str = "utf8",
        init_unknown_vec: Callable[..., Any] = nd.zeros,
        vocabulary: Vocabulary | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._build_embedding_for_vocabulary(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The tokens of a vocabulary, with their vectors in several embeddings side by side."""

    def __init__(
        self, vocabulary: Vocabulary, token_embeddings: _TokenEmbedding | list[_TokenEmbedding]
    ) -> None:
        _check_vocabulary(vocabulary)
        several = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        for one in several:
            assert isinstance(one, _TokenEmbedding), (
                f"token_embeddings must be embeddings, not {type(one)}"
            )
        self._index_tokens_from_vocabulary(vocabulary)
        self._set_idx_to_vec_by_embeddings(several, len(self), self.idx_to_token)
