# SPDX-License-Identifier: Apache-2.0
"""``contrib.text`` answers as MXNet 1.9.1 does (``golden/text.json``), also from large files."""

from __future__ import annotations

import builtins
import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow.contrib import text
from tests.golden.text import FILES, VALUES, answers_of_files, answers_of_values

GOLDEN = json.loads((Path(__file__).parent / "golden" / "text.json").read_text(encoding="utf-8"))


def compare(ours: Any, theirs: Any) -> None:
    """Errors must be of MXNet's class, and say something of their own."""
    if isinstance(theirs, dict) and "error" in theirs:
        assert "raised" in ours, ours
        assert isinstance(ours["raised"], getattr(builtins, theirs["error"])), ours
        assert str(ours["raised"])
        assert ours.get("warned") == theirs.get("warned")
        return
    if isinstance(theirs, dict):
        assert {*ours} == {*theirs}, ours
        for key in theirs:
            compare(ours[key], theirs[key])
        return
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            compare(mine, other)
        return
    assert ours == theirs


@pytest.fixture
def numpy_mode() -> Iterator[None]:
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


@pytest.mark.parametrize("code", VALUES)
def test_values(code: str) -> None:
    compare(answers_of_values(mx)[code], GOLDEN["values"][code])


def test_files(tmp_path: Path) -> None:
    compare_files(answers_of_files(mx, tmp_path, False), GOLDEN["nd"])


@pytest.mark.usefixtures("numpy_mode")
def test_files_with_numpy_arrays(tmp_path: Path) -> None:
    answers = answers_of_files(mx, tmp_path, True)
    compare_files(answers, GOLDEN["np"])


def compare_files(ours: list[Any], theirs: list[Any]) -> None:
    for (content, arguments, _), mine, other in zip(FILES, ours, theirs, strict=True):
        try:
            compare(mine, other)
        except AssertionError as error:
            raise AssertionError(f"{content!r} with {arguments}: {error}") from error


def test_arrays_are_of_the_mode_in_use(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\n")
    assert type(text.embedding.CustomEmbedding(str(path)).idx_to_vec) is mx.nd.NDArray
    with mx.np_array(True):
        read = text.embedding.CustomEmbedding(str(path))
    assert type(read.idx_to_vec) is mx.np.ndarray
    assert type(read.get_vecs_by_tokens(["a", "b"])) is mx.np.ndarray


def rows(count: int, width: int) -> Any:
    return onp.random.RandomState(0).standard_normal((count, width)).astype("float32")


def written(path: Path, values: Any, extra: dict[int, str] | None = None) -> str:
    """Write a file of vectors, with other lines before some of them."""
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(values.tolist()):
            if extra and number in extra:
                print(extra[number], file=file)
            print(f"token{number}", *map(repr, row), file=file)
    return str(path)


@pytest.mark.parametrize("count", [4095, 4096, 4097, 9000])
def test_blocks_of_lines(tmp_path: Path, count: int) -> None:
    values = rows(count, 3)
    read = text.embedding.CustomEmbedding(written(tmp_path / "vectors.txt", values))
    assert len(read) == count + 1
    onp.testing.assert_array_equal(read.idx_to_vec[1:].asnumpy(), values)
    assert read.to_indices(f"token{count - 1}") == count


def test_odd_lines_in_later_blocks_are_named(tmp_path: Path) -> None:
    values = rows(9000, 3)
    path = tmp_path / "vectors.txt"
    with pytest.warns(UserWarning, match="^line") as warned:
        read = text.embedding.CustomEmbedding(
            written(path, values, {0: "9000 3", 5000: "token7 1 2 3", 8000: "odd 5"})
        )
    assert [str(one.message).split(" of ")[0] for one in warned] == [
        "line 1",
        "line 5002",
        "line 8003",
    ]
    assert {one.filename for one in warned} == {__file__}
    onp.testing.assert_array_equal(read.idx_to_vec[1:].asnumpy(), values)
    for line, said in {"token 1 2": "has 2", "token 1 2 x": "'x'", "token": "no vector"}.items():
        with pytest.raises(mx.MXNetError, match=f"line 5001 of .*{said}"):
            text.embedding.CustomEmbedding(written(path, values, {5000: line}))


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("caf\u00e9 1 2\n", encoding="latin1")
    read = text.embedding.CustomEmbedding(str(path), encoding="latin1")
    assert read.idx_to_token == ["<unk>", "caf\u00e9"]
    with pytest.raises(UnicodeDecodeError):
        text.embedding.CustomEmbedding(str(path))


def test_reserved_tokens_have_vectors(tmp_path: Path) -> None:
    """MXNet has a row too few then, and gives other tokens' vectors."""
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\n<eos> 3 4\n")
    read = text.embedding.CustomEmbedding(
        str(path), init_unknown_vec=mx.nd.ones, reserved_tokens=["<pad>", "<eos>"]
    )
    assert read.idx_to_token == ["<unk>", "<pad>", "<eos>", "a"]
    assert read.idx_to_vec.asnumpy().tolist() == [[1, 1], [1, 1], [3, 4], [1, 2]]


def test_no_tokens_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\n")
    read = text.embedding.CustomEmbedding(str(path))
    assert read.get_vecs_by_tokens([]).shape == (0, 2)
    only_unknown = text.embedding.CompositeEmbedding(text.vocab.Vocabulary(), [read, read])
    assert only_unknown.idx_to_vec.asnumpy().tolist() == [[0, 0, 0, 0]]


def test_results_are_copies(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\n")
    read = text.embedding.CustomEmbedding(str(path))
    vector = read.get_vecs_by_tokens("a")
    vector[:] = 7
    assert read.get_vecs_by_tokens("a").asnumpy().tolist() == [1, 2]


# --- files that are fetched ---


def sum_of(path: Path) -> str:
    return hashlib.sha1(path.read_bytes()).hexdigest()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one archive of GloVe, whose sums are known."""
    folder = tmp_path / "repository" / "gluon" / "embeddings" / "glove"
    folder.mkdir(parents=True)
    file, archive = folder / "glove.6B.50d.txt", folder / "glove.6B.zip"
    file.write_text("a 1 2\nb 3 4\n")
    glove = text.embedding.GloVe
    monkeypatch.setitem(glove.pretrained_file_name_sha1, file.name, sum_of(file))
    with zipfile.ZipFile(archive, "w") as members:
        members.write(file, file.name)
    monkeypatch.setitem(glove.pretrained_archive_name_sha1, archive.name, sum_of(archive))
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MXNET_GLUON_REPO", (tmp_path / "repository").as_uri())
    return folder


def test_glove_is_fetched_and_then_found(repository: Path, tmp_path: Path) -> None:
    words = text.vocab.Vocabulary(Counter(["b"]))
    name = "glove.6B.50d.txt"
    read = text.embedding.create("GloVe", pretrained_file_name=name, vocabulary=words)
    assert read.idx_to_token == ["<unk>", "b"]
    assert read.get_vecs_by_tokens("b").asnumpy().tolist() == [3, 4]
    assert (tmp_path / "home" / "embeddings" / "glove" / name).is_file()
    (repository / "glove.6B.zip").unlink()
    assert len(text.embedding.GloVe(name)) == 3
    # What was put there by hand, where it is told to be.
    own = tmp_path / "own" / "glove"
    own.mkdir(parents=True)
    (own / name).write_bytes((repository / name).read_bytes())
    assert len(text.embedding.GloVe(name, embedding_root=str(tmp_path / "own"))) == 3


@pytest.mark.parametrize("present", [False, True])
def test_one_error_where_files_cannot_be_had(
    repository: Path, tmp_path: Path, present: bool
) -> None:
    (repository / "glove.6B.zip").unlink()
    folder = tmp_path / "home" / "embeddings" / "glove"
    if present:
        folder.mkdir(parents=True)
        (folder / "glove.6B.50d.txt").write_text("a 1 2\n")
    with pytest.raises(OSError, match="could not be fetched") as raised:
        text.embedding.create("glove", pretrained_file_name="glove.6B.50d.txt")
    said = str(raised.value)
    assert isinstance(raised.value, mx.MXNetError)
    state = "has another SHA-1 sum than" if present else "is not there"
    assert said.startswith(f"[GloVe] {folder / 'glove.6B.50d.txt'} {state}")
    assert f"{repository.as_uri()}/glove.6B.zip could not be fetched" in said
    assert f"put glove.6B.50d.txt into {folder} yourself" in said
    assert raised.value.__suppress_context__


def test_fasttext_files_have_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fasttext" / "wiki.simple.vec"
    path.parent.mkdir()
    path.write_text("2 3\nthe 1 2 3 \n</s> 4 5 6 \n")
    sums = text.embedding.FastText.pretrained_file_name_sha1
    monkeypatch.setitem(sums, path.name, sum_of(path))
    with pytest.warns(UserWarning, match="line 1 .*header"):
        read = text.embedding.FastText(embedding_root=str(tmp_path))
    assert read.idx_to_token == ["<unk>", "the", "</s>"]
    assert read.vec_len == 3


def test_programs_register_kinds_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "there" / "gluon" / "embeddings" / "ownvectors" / "own.txt"
    file.parent.mkdir(parents=True)
    file.write_text("a 1 2\n")
    monkeypatch.setenv("MXNET_GLUON_REPO", (tmp_path / "there").as_uri())

    class OwnVectors(text.embedding._TokenEmbedding):
        pretrained_file_name_sha1 = {"own.txt": sum_of(file)}  # noqa: RUF012

        def __init__(self, pretrained_file_name: str = "own.txt", **kwargs: Any) -> None:
            super().__init__(**kwargs)
            path = self._get_pretrained_file(str(tmp_path / "here"), pretrained_file_name)
            self._load_embedding(path, " ", mx.nd.zeros)

    known = mx.registry._registries[text.embedding._TokenEmbedding]
    monkeypatch.setitem(known, "ownvectors", OwnVectors)
    assert text.embedding.get_pretrained_file_names("ownvectors") == ["own.txt"]
    assert text.embedding.create("OwnVectors").idx_to_token == ["<unk>", "a"]
    assert (tmp_path / "here" / "ownvectors" / "own.txt").is_file()
