# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib``, beside answers recorded from MXNet 1.9.1."""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, nd, np
from afterglow.gluon.contrib import nn


@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize(
    ("layer", "text", "shape", "result_shape", "values"),
    [
        (
            nn.PixelShuffle1D(2),
            "PixelShuffle1D(2)",
            (1, 4, 3),
            (1, 2, 6),
            [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11],
        ),
        (
            nn.PixelShuffle2D((2, 3)),
            "PixelShuffle2D((2, 3))",
            (1, 12, 1, 2),
            (1, 2, 2, 6),
            [
                *(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11),
                *(12, 14, 16, 13, 15, 17, 18, 20, 22, 19, 21, 23),
            ],
        ),
        (
            nn.PixelShuffle2D(2),
            "PixelShuffle2D((2, 2))",
            (2, 4, 1, 2),
            (2, 1, 2, 4),
            [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15],
        ),
        (
            nn.PixelShuffle3D(2),
            "PixelShuffle3D((2, 2, 2))",
            (1, 8, 1, 1, 2),
            (1, 1, 2, 2, 4),
            [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15],
        ),
    ],
)
def test_pixel_shuffle(layer, text, shape, result_shape, values, world) -> None:
    result = layer(world.arange(prod(shape)).reshape(shape))
    assert result.shape == result_shape
    assert result.asnumpy().ravel().tolist() == values
    assert repr(layer) == text


def test_pixel_shuffle_refuses() -> None:
    for wrong in (
        lambda: nn.PixelShuffle2D(2)(nd.ones((1, 3, 2, 2))),
        lambda: nn.PixelShuffle2D(2)(nd.ones((1, 4, 2))),
        lambda: nn.PixelShuffle2D((2, 2, 2)),
    ):
        with pytest.raises(mx.MXNetError):
            wrong()


def test_graphs_of_pixel_shuffle_have_axes_that_mxnet_takes() -> None:
    graph = nn.PixelShuffle3D((2, 1, 2))(mx.sym.var("data"))
    inner = graph.get_internals()
    _, shapes, _ = inner.infer_shape(data=(1, 8, 2, 3, 4))
    turned = [
        shape
        for name, shape in zip(inner.list_outputs(), shapes, strict=True)
        if "swapaxes" in name or "transpose" in name
    ]
    assert len(turned) == 3
    assert all(len(shape) <= 6 for shape in turned)


def test_what_sync_batch_norm_says_of_itself() -> None:
    layer = nn.SyncBatchNorm(num_devices=2, momentum=0.8, prefix="norm_")
    assert repr(layer) == (
        "SyncBatchNorm(eps=1e-05, momentum=0.8, fix_gamma=False, use_global_stats=False, "
        "ndev=2, key='norm_', in_channels=None)"
    )


def test_interval_sampler() -> None:
    sampler = gluon.contrib.data.IntervalSampler
    assert list(sampler(7, 3)) == [0, 3, 6, 1, 4, 2, 5]
    assert list(sampler(7, 3, rollover=False)) == [0, 3, 6]


# --- texts: answers are MXNet's ---

_TEXT = """
 = Title =
 
 The cat <unk> sat on the mat .

 A dog , the cat and a @-@ mat .
 the end"""  # noqa: W293
_PIECES = [[4, 11, 4, 1, 10], [5, 0, 17, 16, 2], [6, 3, 1, 9, 14], [7, 2, 5, 13, 12],
           [8, 6, 3, 1, 2], [15]]  # fmt: skip


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_GLUON_REPO", "file:///nowhere")


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("is_packed", [False, True])
def test_texts_in_pieces(tmp_path: Path, is_packed: bool, capsys: pytest.CaptureFixture) -> None:
    if is_packed:
        with zipfile.ZipFile(tmp_path / "wikitext-2-v1.zip", "w") as file:
            file.writestr("wikitext-2/wiki.valid.tokens", _TEXT)
            file.writestr("../wiki.else.tokens", "not for us")
    else:
        (tmp_path / "wiki.valid.tokens").write_text(_TEXT)
    texts = gluon.contrib.data.text.WikiText2(str(tmp_path), "validation", seq_len=5)
    assert "is read as it is" in capsys.readouterr().out
    assert not (tmp_path.parent / "wiki.else.tokens").exists()
    words = [word for piece in _PIECES for word in piece]
    assert len(texts) == 5
    for number, (piece, label) in enumerate(texts[i] for i in range(5)):
        assert {piece.asnumpy().dtype, label.asnumpy().dtype} == {onp.dtype("int32")}
        assert piece.asnumpy().tolist() == words[5 * number : 5 * number + 5]
        assert label.asnumpy().tolist() == words[5 * number + 1 : 5 * number + 6]
    assert texts.vocabulary.idx_to_token[:7] == ["<unk>", "<eos>", "the", ".", "=", "cat", "mat"]
    assert texts.frequencies["the"] == 3
    (tmp_path / "wiki.test.tokens").write_text("the dog\nbarks")
    others = gluon.contrib.data.text.WikiText2(
        str(tmp_path), "test", vocab=texts.vocabulary, seq_len=2
    )
    assert [one.asnumpy().tolist() for one in others[0]] == [[2, 14], [14, 1]]
    assert len(gluon.contrib.data.text.WikiText2(str(tmp_path), "validation")) == 0


@pytest.mark.usefixtures("no_network")
def test_texts_that_are_not_there_or_damaged(tmp_path: Path) -> None:
    wiki = gluon.contrib.data.text.WikiText103
    with pytest.raises(mx.MXNetError, match=r"wikitext-103-v1\.zip"):
        wiki(str(tmp_path))
    (tmp_path / "wikitext-103-v1.zip").write_bytes(b"PK nothing")
    with pytest.raises(mx.MXNetError, match="damaged"):
        wiki(str(tmp_path))
    with zipfile.ZipFile(tmp_path / "wikitext-103-v1.zip", "w") as file:
        file.writestr("else", "")
    with pytest.raises(mx.MXNetError, match=r"has no wiki\.train\.tokens"):
        wiki(str(tmp_path))
    (tmp_path / "wiki.train.tokens").write_bytes(b"\xff\xfe")
    with pytest.raises(mx.MXNetError, match="no text"):
        wiki(str(tmp_path))
    with pytest.raises(mx.MXNetError, match="segment is 'all'"):
        wiki(str(tmp_path), "all")
    with pytest.raises(mx.MXNetError, match="seq_len is 0"):
        wiki(str(tmp_path), seq_len=0)
