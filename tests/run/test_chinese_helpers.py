# SPDX-License-Identifier: Apache-2.0
"""The stand-ins for d2lzh: what they read, what they learn, and what they draw."""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, init, nd
from afterglow.books import d2lzh
from afterglow.books._figures import Nothing
from afterglow.books.chinese import images, reviews
from afterglow.gluon import nn, rnn

TEXT = "一二三四五六七八九十" * 40


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that chapters read from, beside their own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "chapter").mkdir()
    monkeypatch.chdir(tmp_path / "chapter")
    return tmp_path / "data"


def packed(path: Path, files: dict[str, bytes]) -> Path:
    """Write an archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


# --- sequences ---


def test_texts_are_numbers(data: Path) -> None:
    with zipfile.ZipFile(data / "jaychou_lyrics.txt.zip", "w") as archive:
        archive.writestr("jaychou_lyrics.txt", "春\n夏\r" * 3000)
    (data / "timemachine.txt").write_text("Up\nand UP", encoding="utf-8")
    for load, expected in [
        (d2lzh.load_data_jay_lyrics, ("春 夏 " * 3000)[:10000]),
        (d2lzh.load_data_time_machine, "up and up"),
    ]:
        corpus, char_to_idx, idx_to_char, size = load()
        assert "".join(idx_to_char[number] for number in corpus) == expected
        assert size == len(idx_to_char) == len(char_to_idx) == len(set(expected))


def test_pieces_of_sequences() -> None:
    numbers = list(range(30))
    seen = []
    for X, Y in d2lzh.data_iter_random(numbers, batch_size=2, num_steps=6):
        assert X.shape == (2, 6)
        onp.testing.assert_array_equal(Y.asnumpy(), X.asnumpy() + 1)
        seen += X[:, 0].asnumpy().tolist()
    assert sorted(seen) == [0, 6, 12, 18]
    batches = list(d2lzh.data_iter_consecutive(numbers, batch_size=2, num_steps=6))
    assert [X[:, 0].asnumpy().tolist() for X, _ in batches] == [[0, 15], [6, 21]]
    for X, Y in batches:
        onp.testing.assert_array_equal(Y.asnumpy(), X.asnumpy() + 1)


def corpus() -> tuple[list[int], dict[str, int], list[str]]:
    characters = sorted(set(TEXT))
    numbers = {character: number for number, character in enumerate(characters)}
    return [numbers[character] for character in TEXT], numbers, characters


def test_recurrent_networks_learn_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    mx.random.seed(1)
    indices, char_to_idx, idx_to_char = corpus()
    model = d2lzh.RNNModel(rnn.GRU(24), len(idx_to_char))
    d2lzh.train_and_predict_rnn_gluon(
        *(model, 24, len(idx_to_char), mx.cpu(), indices, idx_to_char, char_to_idx),
        *(60, 5, 20.0, 1e-1, 8, 30, 10, ["一二", "七"]),
    )
    out = capsys.readouterr().out.splitlines()
    assert [line[:9] for line in out if line[0] == "e"] == ["epoch 30,", "epoch 60,"]
    assert out[-2:] == [f" - {TEXT[:12]}", f" - {TEXT[6:17]}"]


@pytest.mark.parametrize("is_random", [True, False])
def test_recurrent_functions_learn_a_text(
    is_random: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    mx.random.seed(2)
    random.seed(2)
    indices, char_to_idx, idx_to_char = corpus()
    size, units = len(idx_to_char), 24

    def get_params() -> list[Any]:
        shapes = [(size, units), (units, units), (units,), (units, size), (size,)]
        params = [nd.random.normal(scale=0.1, shape=shape) for shape in shapes]
        for param in params:
            param.attach_grad()
        return params

    def network(inputs: Any, state: Any, params: Any) -> tuple[Any, Any]:
        (hidden,), outputs = state, []
        for X in inputs:
            hidden = nd.tanh(nd.dot(X, params[0]) + nd.dot(hidden, params[1]) + params[2])
            outputs.append(nd.dot(hidden, params[3]) + params[4])
        return outputs, (hidden,)

    d2lzh.train_and_predict_rnn(
        *(network, get_params, lambda batch, units, ctx: (nd.zeros((batch, units), ctx),)),
        *(units, size, mx.cpu(), indices, idx_to_char, char_to_idx, is_random),
        *(40, 5, 5.0, 1e-1, 8, 40, 10, ["三四"]),
    )
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == f" - {TEXT[2:14]}"
    assert float(out[0].split()[3].rstrip(",")) < 1.5


def test_gradients_are_clipped() -> None:
    x = nd.array([3.0, 4.0])
    x.attach_grad()
    for theta, gradient, expected in [
        (None, [3, 4], [3, 4]),
        (1, [3, 4], [0.6, 0.8]),
        (9, [3, 4], [3, 4]),
        (1, [0, 0], [0, 0]),
    ]:
        x.grad[:] = nd.array(gradient)
        d2lzh.grad_clipping([x], theta, mx.cpu())
        onp.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-6)


# --- reviews ---


def test_reviews(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        f"aclImdb/train/{kind}/{number}.txt": f"A {word}\nfilm {word} ".encode() * 5
        for kind, word in (("pos", "good"), ("neg", "bad"))
        for number in range(2)
    }
    archive = packed(data.parent / "elsewhere" / "reviews.tar.gz", files)
    monkeypatch.setattr(reviews.utils, "download", lambda *args, **options: str(archive))
    d2lzh.download_imdb()
    read = d2lzh.read_imdb("train")
    assert sorted(label for _, label in read) == [0, 0, 1, 1]
    assert all(("good" in review) == bool(label) for review, label in read)
    assert d2lzh.count_tokens(d2lzh.get_tokenized_imdb(read))["good"] == 10
    vocab = d2lzh.get_vocab_imdb(read)
    features, labels = d2lzh.preprocess_imdb(read, vocab)
    assert features.shape == (4, 500)
    row = features[0].asnumpy().tolist()
    words = d2lzh.get_tokenized_imdb(read[:1])[0]
    assert row[: len(words)] == vocab.to_indices(words)
    assert set(vocab.to_tokens([int(number) for number in row[len(words) :]])) == {"<pad>"}
    assert labels.asnumpy().tolist() == [label for _, label in read]
    good = vocab.to_indices("good")

    def net(X: Any) -> Any:
        kind = (good == X).sum(axis=1)
        return nd.stack(1 - kind, kind, axis=1)

    assert d2lzh.predict_sentiment(net, vocab, ["film", "good"]) == "positive"
    assert d2lzh.predict_sentiment(net, vocab, ["film"]) == "negative"


# --- images ---


def test_fashion_mnist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part, count in (("train", 40), ("t10k", 20)):
        pixels = onp.full((count, 28, 28), 51, onp.uint8).tobytes()
        numbers = bytes(number % 10 for number in range(count))
        for name, content in [
            (f"{part}-images-idx3-ubyte.gz", struct.pack(">4I", 2051, count, 28, 28) + pixels),
            (f"{part}-labels-idx1-ubyte.gz", struct.pack(">2I", 2049, count) + numbers),
        ]:
            (tmp_path / name).write_bytes(gzip.compress(content))
    monkeypatch.setattr("afterglow.gluon.data.vision.datasets.check_sha1", lambda *_: True)
    train, test = d2lzh.load_data_fashion_mnist(16, resize=14, root=str(tmp_path))
    (X, _), *_ = train
    assert X.shape == (16, 1, 14, 14)
    onp.testing.assert_allclose(X.asnumpy(), 0.2, rtol=1e-6)
    assert [y.asnumpy().tolist()[0] for _, y in test] == [0, 6]


def test_classes_of_pixels(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import cv2

    rows = onp.zeros((30, 40, 3), onp.uint8)
    rows[10:20] = d2lzh.VOC_COLORMAP[5][::-1]  # OpenCV writes blue first
    picture = cv2.imencode(".png", rows)[1].tobytes()
    place = "VOCdevkit/VOC2012"
    files = {f"{place}/SegmentationClass/{name}.png": picture for name in "ab"}
    files |= {f"{place}/JPEGImages/{name}.jpg": picture for name in "ab"}
    files |= {f"{place}/ImageSets/Segmentation/{part}.txt": b"a\nb\n" for part in ("train", "val")}
    archive = packed(data.parent / "elsewhere" / "voc.tar", files)
    monkeypatch.setattr(images.utils, "download", lambda *args, **options: str(archive))
    folder = d2lzh.download_voc_pascal()
    assert [one.shape for one in d2lzh.read_voc_images(is_train=False)[0]] == [(30, 40, 3)] * 2
    table = nd.zeros(256**3)
    for number, (red, green, blue) in enumerate(d2lzh.VOC_COLORMAP):
        table[(red * 256 + green) * 256 + blue] = number
    dataset = d2lzh.VOCSegDataset(True, (30, 24), folder, table)
    assert len(dataset) == len(dataset.data) == 2
    image, label = dataset[0]
    assert image.shape == (3, 30, 24)
    black = -onp.divide(images.scenes.MEAN, images.scenes.DEVIATION)
    onp.testing.assert_allclose(image[:, 0, 0].asnumpy(), black, rtol=1e-5)
    assert onp.unique(label.asnumpy(), return_counts=True)[1].tolist() == [480, 240]
    assert label[10, 0].asscalar() == 5


def test_images_are_drawn_by_row_and_column(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = onp.array([[Nothing() for _ in range(3)] for _ in range(2)], dtype=object)
    asked: list[Any] = []

    class Pyplot(Nothing):
        def subplots(self, *args: Any, **options: Any) -> Any:
            asked.append((args, options["figsize"]))
            return self, axes[: args[0], : args[1]]

    for module in ("chinese.images", "english.images"):
        monkeypatch.setattr(f"afterglow.books.{module}.pyplot", Pyplot)
    pictures = [nd.ones((28, 28, 1))] * 6
    assert d2lzh.show_images(pictures, 2, 3).shape == (2, 3)
    d2lzh.show_fashion_mnist(pictures[:3], ["a", "b", "c"])
    assert asked == [((2, 3), (6, 4)), ((1, 3), (12, 12))]


def test_residual_network() -> None:
    block = d2lzh.Residual(4, use_1x1conv=True, strides=2)
    block.initialize()
    result = block(nd.random.normal(shape=(2, 3, 8, 8)))
    assert type(result) is mx.nd.NDArray
    assert result.shape == (2, 4, 4, 4)
    assert result.min().asscalar() >= 0
    net = d2lzh.resnet18(7)
    net.initialize()
    assert net(nd.ones((1, 1, 16, 16))).shape == (1, 7)


# --- training ---


def points() -> tuple[Any, Any]:
    X = nd.random.uniform(-1, 1, (320, 2))
    return X, X[:, 0] > X[:, 1]


@pytest.mark.parametrize("function", ["train", "train_ch3", "train_ch5"])
def test_classifiers_are_trained(function: str, capsys: pytest.CaptureFixture[str]) -> None:
    mx.random.seed(3)
    dataset = gluon.data.ArrayDataset(*points())
    batches = gluon.data.DataLoader(dataset, 32, shuffle=True)
    net = nn.Dense(2)
    net.initialize(init.Normal(0.1))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    if function == "train":
        d2lzh.train(batches, batches, net, loss, trainer, mx.cpu(), 8)
    elif function == "train_ch3":
        d2lzh.train_ch3(net, batches, batches, loss, 8, 32, None, None, trainer)
    else:
        d2lzh.train_ch5(net, batches, batches, 32, trainer, mx.cpu(), 8)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch")]
    assert len(lines) == 8
    losses = [float(line.split("loss ")[1].split(",")[0]) for line in lines]
    assert losses[-1] < losses[0]
    assert float(lines[-1].split("test acc ")[1].split(",")[0]) > 0.9
    assert d2lzh.evaluate_accuracy(batches, net, [mx.cpu()]) > 0.9


def test_a_classifier_on_several_devices(capsys: pytest.CaptureFixture[str]) -> None:
    mx.random.seed(4)
    places = [mx.cpu(0), mx.cpu(1)]
    batches = gluon.data.DataLoader(gluon.data.ArrayDataset(*points()), 32)
    net = nn.Dense(2)
    net.initialize(init.Normal(0.1), ctx=places)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    d2lzh.train(batches, batches, net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer, places, 8)
    assert float(capsys.readouterr().out.split("test acc ")[-1].split(",")[0]) > 0.9


def test_lines_through_noise(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mx.random.seed(5)
    rows = onp.random.RandomState(0).normal(size=(300, 6)) * [9, 1, 3, 1, 1, 1] + 5
    rows[:, 5] = rows[:, :5] @ [0.1, 2, 0.3, -1, 0.5]
    onp.savetxt(data / "airfoil_self_noise.dat", rows, delimiter="\t")
    features, labels = d2lzh.get_data_ch7()
    assert (features.shape, labels.shape) == ((300, 5), (300,))
    onp.testing.assert_allclose(features.asnumpy().mean(0), 0, atol=1e-5)
    onp.testing.assert_allclose(features.asnumpy().std(0), 1, rtol=1e-5)

    def step(params: list[Any], states: list[str], hyperparams: dict[str, float]) -> None:
        assert states == ["kept"]
        for param in params:
            param[:] = param - hyperparams["lr"] * param.grad

    d2lzh.train_ch7(step, ["kept"], {"lr": 0.1}, features, labels, num_epochs=4)
    d2lzh.train_gluon_ch7("adam", {"learning_rate": 0.1}, features, labels, num_epochs=4)
    for line in capsys.readouterr().out.splitlines():
        assert float(line.split()[1].rstrip(",")) < 1e-3
