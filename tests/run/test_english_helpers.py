# SPDX-License-Identifier: Apache-2.0
"""Helpers of the English book for its single subjects, with small files in place of downloads."""

from __future__ import annotations

import hashlib
import io
import math
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as onp
import pytest
from support import output_of

from afterglow import autograd, cpu, gluon, init, np, npx
from afterglow.books import d2l
from afterglow.gluon import nn, rnn

pytestmark = pytest.mark.usefixtures("numpy_arrays")
Provide = Callable[..., None]


@pytest.fixture
def numpy_arrays() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


@pytest.fixture
def provide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Provide:
    """Put a file where ``download`` looks for it, and its sum into the table."""
    (tmp_path / "chapter").mkdir()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "chapter")

    def put(name: str, content: str | bytes | dict[str, str | bytes]) -> None:
        file = d2l.DATA_HUB[name][0].split("/")[-1]
        if isinstance(content, dict):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                for path, text in content.items():
                    archive.writestr(path, text)
            content = buffer.getvalue()
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / "data" / file).write_bytes(data)
        address = d2l.DATA_URL + file
        monkeypatch.setitem(d2l.DATA_HUB, name, (address, hashlib.sha1(data).hexdigest()))

    return put


def close(ours: Any, expected: Any, tolerance: float = 1e-5) -> None:
    onp.testing.assert_allclose(ours.asnumpy(), expected, tolerance, tolerance)


# --- files ---


def test_download_and_extract(provide: Provide, tmp_path: Path) -> None:
    provide("hotdog", {"hotdog/a.txt": "a", "other/b.txt": "b"})
    assert d2l.download("hotdog") == "../data/hotdog.zip"
    assert d2l.download(name="hotdog", cache_dir="../data/.") == "../data/./hotdog.zip"
    assert Path(d2l.download_extract("hotdog"), "a.txt").read_text() == "a"
    assert Path(d2l.download_extract("hotdog", "other"), "b.txt").read_text() == "b"
    with pytest.raises(AssertionError, match=r"nothing does not exist in DATA_HUB"):
        d2l.download("nothing")
    with pytest.raises(ValueError, match=r"only zip and tar files .* x.rar"):
        d2l.extract("x.rar")


# --- text ---

NOVEL = "The Time Machine, by H. G. Wells\n\nThe time traveller was here.\n" * 30


def test_vocabulary() -> None:
    vocab = d2l.Vocab([["a", "b", "a"], ["c", "a", "b"]], min_freq=2, reserved_tokens=["<pad>"])
    assert vocab.idx_to_token == ["<unk>", "<pad>", "a", "b"]
    assert (len(vocab), vocab["c"], vocab[["a", ("b", "c")]]) == (4, 0, [2, [3, 0]])
    assert vocab.to_tokens(np.array([2, 3])) == vocab.to_tokens([2, 3]) == ["a", "b"]
    assert vocab.to_tokens(np.array(2)) == vocab.to_tokens(2) == "a"
    assert vocab.token_freqs[0] == ("a", 3)
    assert len(d2l.Vocab()) == 1
    assert d2l.tokenize(["a bc"]) == [["a", "bc"]]
    assert d2l.tokenize(["a b"], "char") == [["a", " ", "b"]]
    with pytest.raises(ValueError, match="'letter'"):
        d2l.tokenize([], "letter")


def test_sequences_of_a_text(provide: Provide) -> None:
    provide("time_machine", NOVEL)
    assert d2l.read_time_machine()[:3] == [
        "the time machine by h g wells",
        "",
        "the time traveller was here",
    ]
    corpus = list(range(35))
    for name in ("seq_data_iter_random", "seq_data_iter_sequential"):
        batches = list(getattr(d2l, name)(corpus, 2, 5))
        assert len(batches) in (2, 3)
        for X, Y in batches:
            assert X.shape == Y.shape == (2, 5)
            close(Y, X.asnumpy() + 1)
            close(X[:, 1:], X[:, :-1].asnumpy() + 1)
        if name.endswith("sequential"):
            close(batches[1][0][:, 0], batches[0][0][:, -1].asnumpy() + 1)
    data = d2l.TimeMachine(batch_size=4, num_steps=6, num_train=20, num_val=8)
    X, Y = next(iter(data.train_dataloader()))
    assert X.shape == (4, 6)
    close(X[:, 1:], Y[:, :-1].asnumpy())
    assert (len(data.train_dataloader()), len(data.val_dataloader())) == (5, 2)


def test_language_models(provide: Provide, capsys: pytest.CaptureFixture[str]) -> None:
    provide("time_machine", NOVEL)
    data = d2l.TimeMachine(batch_size=32, num_steps=8, num_train=256, num_val=32)
    size = len(data.vocab)
    gru = d2l.GRU(16, num_layers=2)
    for layer, model in (
        (d2l.RNNScratch(size, 16, sigma=0.2), d2l.RNNLMScratch),
        (d2l.RNN(16), d2l.RNNLM),
        (gru, d2l.RNNLM),
    ):
        lm = model(layer, vocab_size=size, lr=1)
        d2l.Trainer(max_epochs=3, gradient_clip_val=1).fit(lm, data)
        perplexities = [point.y for point in lm.board.data["train_ppl"]]
        assert perplexities[-1] < min(perplexities[0], size)
        text = lm.predict("time", 5, data.vocab)
        assert text.startswith("time")
        assert len(text) == 9
        lm.trainer = None  # it holds the model
    batches, vocab = d2l.load_data_time_machine(8, 8, max_tokens=400)

    def parameters(inputs: int, hiddens: int, device: Any) -> list[Any]:
        params = [np.random.normal(scale=0.1, size=(inputs, hiddens)), np.zeros((inputs,))]
        for param in params:
            param.attach_grad()
        return params

    def forward(inputs: Any, state: Any, params: Any) -> tuple[Any, Any]:
        hidden = np.tanh(np.dot(inputs, params[0]))
        scores = np.dot(hidden, params[0].T) + params[1]
        return scores.reshape((-1, scores.shape[-1])), (state[0] + 0 * hidden[-1],)

    scratch = d2l.RNNModelScratch(
        len(vocab), 8, cpu(), parameters, lambda n, h, c: (np.zeros((n, h)),), forward
    )
    capsys.readouterr()
    for net in (scratch, d2l.RNNModel(rnn.RNN(16), len(vocab))):
        d2l.train_ch8(net, batches, vocab, 1, 10, cpu())
        first, *texts = capsys.readouterr().out.splitlines()
        assert float(first.split()[1].rstrip(",")) < len(vocab)
        assert [len(text) for text in texts] == [64, 59]


PAIRS = "Go.\tVa !\nHi, you.\tSalut, toi.\nRun!\tCours\u202f!\nStop.\tArrête.\n" * 30


def test_pairs_of_sentences(provide: Provide) -> None:
    assert d2l.preprocess_nmt("Hi,\xa0you!\u202f?") == "hi , you ! ?"
    provide("fra-eng", {"fra-eng/fra.txt": PAIRS})
    batches, source, target = d2l.load_data_nmt(4, 6, num_examples=8)
    X, X_length, Y, Y_length = next(iter(batches))
    assert X.shape == Y.shape == (4, 6)
    for row, length, vocab in ((X[0], X_length[0], source), (Y[0], Y_length[0], target)):
        words = vocab.to_tokens(row)
        assert words[int(length) - 1] == "<eos>"
        assert set(words[int(length) :]) <= {"<pad>"}
    data = d2l.MTFraEng(batch_size=4, num_steps=7, num_train=12, num_val=4)
    X, before, length, after = next(iter(data.val_dataloader()))
    close(before[:, 1:], after[:, :-1].asnumpy())
    assert data.tgt_vocab.to_tokens(before[:, 0]) == ["<bos>"] * 4
    built = data.build(["go ."], ["va !"])
    assert data.src_vocab.to_tokens(built[0][0])[:3] == ["go", ".", "<eos>"]
    assert built[2].asnumpy().tolist() == [3]


class _Decoder(d2l.AttentionDecoder):
    """Attends to the words of the source."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.attention = d2l.AdditiveAttention(8, 0)
        self.embedding = nn.Embedding(vocab_size, 8)
        self.dense = nn.Dense(vocab_size, flatten=False)
        self.initialize(init.Xavier())

    def init_state(self, enc_all_outputs: Any, *args: Any) -> Any:
        return enc_all_outputs[0].swapaxes(0, 1), *args

    def forward(self, X: Any, state: Any) -> Any:
        queries = self.embedding(X)
        context = self.attention(queries, state[0], state[0], state[1])
        return self.dense(np.concatenate([context, queries], 2)), state

    @property
    def attention_weights(self) -> Any:
        return self.attention.attention_weights


def test_translation(provide: Provide, capsys: pytest.CaptureFixture[str]) -> None:
    provide("fra-eng", {"fra-eng/fra.txt": PAIRS})
    data = d2l.MTFraEng(batch_size=8, num_steps=6, num_train=32, num_val=8)
    encoder = d2l.Seq2SeqEncoder(len(data.src_vocab), 8, 8, 1)
    model = d2l.Seq2Seq(encoder, _Decoder(len(data.tgt_vocab)), data.tgt_vocab["<pad>"], lr=0.05)
    d2l.Trainer(max_epochs=6, gradient_clip_val=1).fit(model, data)
    losses = [point.y for point in model.board.data["val_loss"]]
    assert losses[-1] < losses[0] / 2
    tokens, weights = model.predict_step(
        data.build(["go ."], ["va !"]), cpu(), 4, save_attention_weights=True
    )
    assert (tokens.shape, len(weights)) == ((1, 4), 4)
    assert data.tgt_vocab.to_tokens(tokens[0])[:3] == ["va", "!", "<eos>"]
    model.trainer = None  # it holds the model
    # Version 0.17 trains the class itself, which returns its state as well.
    batches, source, target = d2l.load_data_nmt(8, 6, num_examples=32)
    net = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(len(source), 8, 8, 1), _Decoder(len(target)))
    capsys.readouterr()
    d2l.train_seq2seq(net, batches, 0.05, 10, target, cpu())
    assert float(capsys.readouterr().out.split()[1].rstrip(",")) < 0.5
    text, weights = d2l.predict_seq2seq(net, "Go .", source, target, 6, cpu(), True)
    assert (text, len(weights)) == ("va !", 3)
    _, state = net(np.zeros((1, 6)), np.zeros((1, 2)), np.array([3]))
    assert len(state) == 2


def test_states_of_encoders() -> None:
    X = np.zeros((4, 7))
    encoder = d2l.Seq2SeqEncoder(10, 8, 16, 2)
    outputs, state = encoder(X)  # version 1.0 initializes it by itself
    assert (outputs.shape, state.shape) == ((7, 4, 16), (2, 4, 16))
    # Programs for version 0.17 do it, alone or in a model, and give the list to layers of Gluon.
    model = d2l.EncoderDecoder(d2l.Seq2SeqEncoder(10, 8, 16, 2), _Decoder(10))
    for whole, one in ((encoder, encoder), (model, model.encoder)):
        whole.initialize(init.Xavier(), force_reinit=True)
        _, state = one(X)
        assert [part.shape for part in state] == [(2, 4, 16)]
        layer = rnn.GRU(16, 2)
        layer.initialize()
        assert layer(np.zeros((1, 4, 3)), state)[1][0].shape == (2, 4, 16)


def test_score_of_translations() -> None:
    assert d2l.bleu("a b c d e", "a b c d e", k=3) == pytest.approx(1)
    # 4 of 5 words and 2 of 4 pairs are right, and the text is long enough.
    assert d2l.bleu("a b x d e", "a b d e", k=2) == pytest.approx(0.8**0.5 * 0.5**0.25)
    # One of two words twice is right once; it is too short.
    assert d2l.bleu("a a", "a b c", k=1) == pytest.approx(math.exp(-0.5) * 0.5**0.5)


# --- attention ---


def test_attention() -> None:
    X = np.random.normal(size=(2, 3, 4))
    lengths = onp.array([[1, 2, 4], [3, 3, 1]])
    host = X.asnumpy()
    expected = onp.where(onp.arange(4) < lengths[..., None], onp.exp(host), 0)
    close(d2l.masked_softmax(X, np.array(lengths)), expected / expected.sum(-1, keepdims=True))
    weights = d2l.masked_softmax(X, np.array([2, 3])).asnumpy()
    assert (weights[0, :, 2:] == 0).all()
    assert (weights[1, :, 3:] == 0).all()
    close(d2l.transpose_output(d2l.transpose_qkv(X, 2), 2), host)
    queries, keys, values = (np.random.normal(size=(2, n, 4)) for n in (3, 5, 5))
    attention = d2l.DotProductAttention(0)
    scores = queries.asnumpy() @ keys.asnumpy().transpose(0, 2, 1) / 2
    shares = onp.exp(scores) / onp.exp(scores).sum(-1, keepdims=True)
    close(attention(queries, keys, values), shares @ values.asnumpy())
    close(attention.attention_weights, shares)
    encoding = d2l.PositionalEncoding(6, 0, max_len=9).P.asnumpy()
    for place, column in ((0, 0), (5, 2), (8, 5)):
        angle = place / 10000 ** (2 * (column // 2) / 6)
        assert encoding[0, place, column] == pytest.approx(
            math.cos(angle) if column % 2 else math.sin(angle), abs=1e-5
        )
    encoder = d2l.TransformerEncoder(10, 8, 16, 2, 3, 0)
    tokens = np.array([[1, 2, 3], [4, 5, 6]])
    first = encoder(tokens, np.array([2, 3])).asnumpy()
    assert [one.shape for one in encoder.attention_weights] == [(4, 3, 3)] * 3
    tokens[0, 2] = 9  # which is behind the end
    onp.testing.assert_allclose(encoder(tokens, np.array([2, 3])).asnumpy()[0, :2], first[0, :2])
    d2l.show_heatmaps([[X[0]], [host[1]]], "keys", "queries", titles=["x"])
    d2l.check_len([1, 2], 2)
    with pytest.raises(AssertionError, match=r"\(2, 3, 4\) != expected shape \(1,\)"):
        d2l.check_shape(X, (1,))


# --- words and sentences ---


def test_words_that_stand_together(provide: Provide) -> None:
    words = [f"word{i}" for i in range(20)]
    lines = [" ".join(random.choices(words, k=12)) for _ in range(80)]
    provide("ptb", {"ptb/ptb.train.txt": "\n".join([*lines, "rare thing"])})
    centers, contexts = d2l.get_centers_and_contexts([[1, 2, 3, 4, 5], [6]], 2)
    assert centers == [1, 2, 3, 4, 5]
    for center, context in zip(centers, contexts, strict=True):
        assert all(0 < abs(center - other) <= 2 for other in context)
    batches, vocab = d2l.load_data_ptb(8, 3, 5)
    assert "rare" not in vocab.token_to_idx
    center, rows, masks, labels = next(iter(batches))
    assert center.shape == (8, 1)
    assert rows.shape == masks.shape == labels.shape
    for row, mask, label in zip(*(one.asnumpy() for one in (rows, masks, labels)), strict=True):
        real, noise = row[label == 1], row[(mask == 1) & (label == 0)]
        assert len(noise) == 5 * len(real)
        assert not set(real) & set(noise)
        assert (mask[label == 1] == 1).all()
    drawn = Counter(generator.draw() for generator in [d2l.RandomGenerator([0, 3, 1])] * 400)
    assert set(drawn) == {2, 3}
    assert drawn[2] > drawn[3]
    provide("wiki.en", {"wiki.en/vec.txt": "2 3\nhello 1 2 3\nworld 4 5 6\n"})
    embedding = d2l.TokenEmbedding("wiki.en")
    assert len(embedding) == 3
    close(embedding[["world", "none"]], [[4, 5, 6], [0, 0, 0]])


def test_bert(provide: Provide) -> None:
    assert d2l.get_tokens_and_segments(["a"], ["b", "c"]) == (
        ["<cls>", "a", "<sep>", "b", "c", "<sep>"],
        [0, 0, 0, 1, 1, 1],
    )
    text = " = title = \n a b c . d e f . g h i j \n" * 40
    provide("wikitext-2", {"wikitext-2/wiki.train.tokens": text})
    batches, vocab = d2l.load_data_wiki(16, 24)
    batch = tokens, segments, lengths, places, weights, hidden, follows = next(iter(batches))
    assert [one.shape for one in batch] == [(16, 24)] * 2 + [(16,)] + [(16, 4)] * 3 + [(16,)]
    for row in range(16):
        words = vocab.to_tokens(tokens[row])
        assert words[0] == "<cls>"
        assert words[int(lengths[row]) - 1] == "<sep>"
        assert set(words[int(lengths[row]) :]) <= {"<pad>"}
        count = int(weights[row].sum())
        assert count >= 1
        for place, word in zip(places[row][:count], hidden[row][:count], strict=True):
            assert 0 < int(place) < int(lengths[row]) - 1
            assert vocab.to_tokens(word) not in ("<cls>", "<sep>", "<mask>")
    assert 0 < float(follows.mean()) < 1
    model = d2l.BERTModel(len(vocab), 16, 32, 2, 2, 0.1, max_len=24)
    model.initialize()
    encoded, guesses, order = model(tokens, segments, lengths, places)
    assert [one.shape for one in (encoded, guesses, order)] == [
        (16, 24, 16),
        (16, 4, len(vocab)),
        (16, 2),
    ]
    # A guess depends on the vector at its place alone.
    close(model.mlm(encoded, places)[3, 1], model.mlm.mlp(encoded[3, int(places[3, 1])]).asnumpy())
    older = d2l.BERTModel(len(vocab), 16, 32, num_heads=2, num_layers=2, dropout=0.1, max_len=24)
    names = model._collect_params_with_prefix()
    assert older._collect_params_with_prefix().keys() == names.keys()
    assert {"encoder.pos_embedding", "encoder.blks.1.attention.W_q.bias", "nsp.output.bias"} <= {
        *names
    }


def test_reviews_and_inference(provide: Provide) -> None:
    reviews = {
        f"aclImdb/{part}/{kind}/{i}.txt": f"a {word} film " * 4
        for part in ("train", "test")
        for kind, word in (("pos", "great"), ("neg", "poor"))
        for i in range(6)
    }
    d2l.DATA_HUB["aclImdb"] = (d2l.DATA_URL + "aclImdb.zip", "")
    provide("aclImdb", reviews)  # a zip file does as well
    train, test, vocab = d2l.load_data_imdb(4, num_steps=5)
    X, y = next(iter(test))
    assert X.shape == (4, 5)
    assert vocab.to_tokens(X[0])[:2] == ["a", "great"]
    assert y.asnumpy().tolist() == [1] * 4
    assert len(train) == 3

    def net(rows: Any) -> Any:
        great = (rows == vocab["great"]).astype("float32").sum(1)
        return np.stack([np.full(great.shape, 0.5), great], 1)

    assert d2l.predict_sentiment(net, vocab, "so great") == "positive"
    assert d2l.predict_sentiment(net, vocab, "so poor") == "negative"
    head = "gold_label\ts1\ts2\n"
    rows = "neutral\t( ( A man ) sits . )\t( He )\nentailment\t( x )\t( y )\n-\t( ? )\t( ? )\n" * 8
    provide("SNLI", {f"snli_1.0/snli_1.0_{part}.txt": head + rows for part in ("train", "test")})
    train, test, vocab = d2l.load_data_snli(4, 6)
    (premises, hypotheses), labels = next(iter(test))
    assert vocab.to_tokens(premises[0]) == ["A", "man", "sits", ".", "<pad>", "<pad>"]
    assert (hypotheses.shape, labels.asnumpy().tolist()) == ((4, 6), [2, 0, 2, 0])
    parts, labels = d2l.split_batch_multi_inputs([premises, hypotheses], labels, [cpu(0), cpu(1)])
    assert [[one.shape for one in part] for part in parts] == [[(2, 6), (2, 6)]] * 2
    assert labels[1].context == cpu(1)
    assert d2l.predict_snli(lambda X: np.array([[0, 2, 1]]), vocab, ["x"], ["y"]) == "contradiction"


# --- boxes and scenes ---


def test_boxes() -> None:
    boxes = np.array([[0.1, 0.2, 0.5, 0.4], [0.3, 0.1, 0.7, 0.9], [0.3, 0.3, 0.7, 0.9]])
    centers = d2l.box_corner_to_center(boxes)
    close(centers[0], [0.3, 0.3, 0.4, 0.2])
    close(d2l.box_center_to_corner(centers), boxes.asnumpy())
    overlaps = d2l.box_iou(boxes, boxes).asnumpy()
    assert overlaps[0, 1] == pytest.approx(0.04 / (0.08 + 0.32 - 0.04), rel=1e-4)
    assert overlaps[1, 2] == pytest.approx(0.75, rel=1e-4)
    anchors = d2l.multibox_prior(np.zeros((1, 3, 4, 6)), [0.5, 0.25], [1, 4])
    assert anchors.shape == (1, 4 * 6 * 3, 4)
    # The pixel in row 1 and column 2, the first size in the second ratio.
    close(
        d2l.box_corner_to_center(anchors[0])[(1 * 6 + 2) * 3 + 2],
        [2.5 / 6, 1.5 / 4, 0.5 * 2 * 4 / 6, 0.5 / 2],
    )
    changed = d2l.offset_inverse(boxes, d2l.offset_boxes(boxes, boxes[::-1]))
    close(changed, boxes.asnumpy()[::-1], 1e-4)
    labels = np.array([[[0, 0.1, 0.2, 0.5, 0.4], [4, 0.3, 0.1, 0.7, 0.9]]])
    offsets, mask, classes = d2l.multibox_target(np.expand_dims(boxes, 0), labels)
    assert classes.asnumpy().tolist() == [[1, 5, 5]]  # the third fits the second object well
    close(mask, onp.ones((1, 12)))
    close(offsets[0, :8], onp.zeros(8), 1e-4)
    far = np.array([[[0, 0.8, 0.8, 0.9, 0.9]]])
    offsets, mask, classes = d2l.multibox_target(np.expand_dims(boxes, 0), far)
    assert sorted(classes.asnumpy().ravel().tolist()) == [0, 0, 1]  # none fits, and one has to
    assert (offsets.asnumpy()[mask.asnumpy() == 0] == 0).all()
    assert d2l.nms(boxes, np.array([0.5, 0.8, 0.9]), 0.5).asnumpy().tolist() == [2, 0]
    assert d2l.nms(boxes, np.array([0.5, 0.8, 0.9]), 0.8).asnumpy().tolist() == [2, 1, 0]
    shares = np.array([[[0.4, 0.1, 0.995], [0.5, 0.2, 0.001], [0.1, 0.7, 0.004]]])
    found = d2l.multibox_detection(shares, np.zeros((1, 12)), np.expand_dims(boxes, 0))[0]
    assert found[:, 0].asnumpy().tolist() == [1, 0, -1]
    close(found[:, 1], [0.7, 0.5, 0.996])
    close(found[:, 2:], boxes.asnumpy()[[1, 0, 2]])


def _png(picture: Any) -> bytes:
    return cv2.imencode(".png", onp.asarray(picture, onp.uint8)[:, :, ::-1])[1].tobytes()


def test_scenes(provide: Provide, tmp_path: Path) -> None:
    assert d2l.VOC_COLORMAP[15] == [192, 128, 128]  # a person, in the published pictures
    assert d2l.VOC_COLORMAP[20] == [0, 64, 128]
    assert len(d2l.VOC_CLASSES) == len(d2l.VOC_COLORMAP) == 21
    files: dict[str, str | bytes] = {}
    for part in ("train", "val"):
        folder = f"banana-detection/bananas_{part}"
        files[f"{folder}/label.csv"] = "img_name,label,xmin,ymin,xmax,ymax\n0.png,0,64,32,128,256\n"
        files[f"{folder}/images/0.png"] = _png(onp.full((256, 256, 3), [9, 8, 7]))
    provide("banana-detection", files)
    train, _ = d2l.load_data_bananas(1)
    X, y = next(iter(train))
    assert (X.shape, X[0, :, 5, 5].asnumpy().tolist()) == ((1, 3, 256, 256), [9, 8, 7])
    assert y.asnumpy().tolist() == [[[0, 0.25, 0.125, 0.5, 1]]]
    root = "VOCdevkit/VOC2012"
    label = onp.zeros((20, 30, 3))
    label[:, 10:] = d2l.VOC_COLORMAP[15]
    files = {f"{root}/ImageSets/Segmentation/{part}.txt": "a\nb\n" for part in ("train", "val")}
    for name, size in (("a", 20), ("b", 8)):
        files[f"{root}/JPEGImages/{name}.jpg"] = _png(onp.full((size, 30, 3), 128))
        files[f"{root}/SegmentationClass/{name}.png"] = _png(label[:size])
    d2l.DATA_HUB["voc2012"] = (d2l.DATA_URL + "voc.zip", "")
    provide("voc2012", files)
    train, _ = d2l.load_data_voc(1, (10, 28))
    X, y = next(iter(train))  # the second picture is too small
    assert (X.shape, y.shape, len(train)) == ((1, 3, 10, 28), (1, 10, 28), 1)
    close(X[0, 0], onp.full((10, 28), (128 / 255 - 0.485) / 0.229))
    assert set(y.asnumpy().ravel().tolist()) == {0, 15}
    labels = {f"{i}": "cat" if i < 4 else "dog" for i in range(10)}
    (tmp_path / "labels.csv").write_text(
        "id,label\n" + "".join(f"{name},{label}\n" for name, label in labels.items())
    )
    assert d2l.read_csv_labels(str(tmp_path / "labels.csv")) == labels
    for part in ("train", "test"):
        (tmp_path / part).mkdir()
        for name in labels:
            (tmp_path / part / f"{name}.png").touch()
    assert d2l.reorg_train_valid(str(tmp_path), labels, 0.5) == 2
    d2l.reorg_test(str(tmp_path))
    sorted_files = tmp_path / "train_valid_test"
    assert {
        part: len(list((sorted_files / part).rglob("*.png")))
        for part in ("train", "valid", "train_valid", "test")
    } == {"train": 6, "valid": 4, "train_valid": 10, "test": 10}


# --- images and training ---


@pytest.fixture
def clothes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures whose class is where they are bright, in place of Fashion-MNIST."""

    def dataset(train: bool) -> gluon.data.Dataset:
        labels = onp.arange(120 if train else 60) % 3
        pictures = onp.random.randint(0, 30, (len(labels), 28, 28, 1), onp.uint8)
        for picture, label in zip(pictures, labels, strict=True):
            picture[:, 9 * label : 9 * label + 9] += 200
        return gluon.data.ArrayDataset(
            np.array(pictures, dtype="uint8"), onp.array(labels, onp.int32)
        )

    monkeypatch.setattr(gluon.data.vision, "FashionMNIST", dataset)


@pytest.mark.usefixtures("clothes")
def test_images(capsys: pytest.CaptureFixture[str]) -> None:
    data = d2l.FashionMNIST(batch_size=20, resize=(32, 32))
    batch = X, y = next(iter(data.train_dataloader()))
    assert (X.shape, y.shape) == ((20, 1, 32, 32), (20,))
    assert float(X.max()) <= 1
    assert data.text_labels([0, 9]) == ["t-shirt", "ankle boot"]
    data.visualize(batch)
    model = d2l.SoftmaxRegression(num_outputs=3, lr=0.1)
    d2l.Trainer(max_epochs=4).fit(model, d2l.FashionMNIST(batch_size=20))
    assert model.board.data["val_acc"][-1].y > 0.9
    model.trainer = None  # it holds the model
    capsys.readouterr()
    d2l.LeNet().layer_summary((1, 1, 28, 28))
    assert capsys.readouterr().out.splitlines()[0] == "Conv2D output shape:\t (1, 6, 28, 28)"
    for block in (d2l.Residual(6, True, 2), d2l.ResNeXtBlock(6, 3, 1, True, 2)):
        block.initialize()
        output = block(np.random.normal(size=(2, 4, 8, 8)))
        assert output.shape == (2, 6, 4, 4)
        assert float(output.min()) >= 0
    net = d2l.resnet18(7)
    net.initialize()
    assert net(np.zeros((1, 3, 32, 32))).shape == (1, 7)


@pytest.mark.usefixtures("clothes")
def test_training_on_devices(capsys: pytest.CaptureFixture[str]) -> None:
    train, test = d2l.load_data_fashion_mnist(20)
    net = nn.Sequential()
    net.add(nn.Dense(3))
    d2l.train_ch6(net, train, test, 4, 0.1, d2l.try_gpu())
    assert d2l.evaluate_accuracy_gpu(net, test) > 0.9
    d2l.predict_ch3(net, test)
    devices = [cpu(0), cpu(1)]
    net.initialize(force_reinit=True, ctx=devices)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    capsys.readouterr()
    d2l.train_ch13(net, train, test, gluon.loss.SoftmaxCrossEntropyLoss(), trainer, 4, devices)
    assert d2l.evaluate_accuracy_gpus(net, test) > 0.9
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("loss 0.")
    assert second.endswith("examples/sec on [cpu(0), cpu(1)]")


def test_optimizers_of_ones_own(provide: Provide, capsys: pytest.CaptureFixture[str]) -> None:
    rows = onp.random.normal(size=(400, 6)) + 3
    rows[:, 5] = rows[:, :5].sum(1)
    provide("airfoil", "\n".join("\t".join(f"{value:.5f}" for value in row) for row in rows))
    batches, count = d2l.get_data_ch11(batch_size=20)
    assert (count, len(batches)) == (5, 20)

    def sgd(params: Any, states: Any, hyperparams: dict[str, float]) -> None:
        for param in params:
            param[:] -= hyperparams["lr"] * param.grad
            states.append(param.shape)

    states: list[Any] = []
    times, losses = d2l.train_ch11(sgd, states, {"lr": 0.1}, batches, count)
    assert (len(states), len(times), len(losses)) == (80, 4, 4)
    assert losses[-1] < losses[0] / 10
    d2l.train_concise_ch11("sgd", {"learning_rate": 0.1}, batches)
    assert "loss: 0.0" in capsys.readouterr().out
    d2l.annotate("x", (1, 1), (2, 2))


def test_two_rivals() -> None:
    generator, discriminator = nn.Dense(2), nn.Dense(1)
    for net in (generator, discriminator):
        net.initialize(init.Normal(0.5))
    loss = gluon.loss.SigmoidBCELoss()
    trainers = [
        gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
        for net in (generator, discriminator)
    ]
    X, Z = np.random.normal(size=(50, 2)) + 3, np.random.normal(size=(50, 2))
    first = d2l.update_D(X, Z, discriminator, generator, loss, trainers[1])
    for _ in range(30):
        last = d2l.update_D(X, Z, discriminator, generator, loss, trainers[1])
    assert last < first
    assert (generator.weight.grad().asnumpy() == 0).all()
    first = d2l.update_G(Z, discriminator, generator, loss, trainers[0])
    for _ in range(30):
        last = d2l.update_G(Z, discriminator, generator, loss, trainers[0])
    assert last < first


# --- recommendations ---


class _Factors(nn.Block):
    """Products of vectors of users and films."""

    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(6, 4), nn.Embedding(8, 4)

    def forward(self, user: Any, item: Any) -> Any:
        return (self.users(user) * self.items(item)).sum(-1)


def test_recommendations(capsys: pytest.CaptureFixture[str]) -> None:
    assert d2l.hit_and_auc([3, 1, 4, 2, 5], [4], 2) == (0, 0.5)
    a, b = np.array([1.0, 2.0]), np.array([0.5, 3.0])
    expected = onp.log1p(onp.exp([-0.5, 1])).sum()
    assert d2l.BPRLoss()(a, b).sum().item() == pytest.approx(expected, rel=1e-5)
    assert d2l.HingeLossbRec()(a, b).item() == pytest.approx(2.5)
    users = onp.arange(60) % 6
    liked = 2 * (onp.arange(60) % 4) + users % 2  # users like films of their kind
    net = _Factors()
    net.initialize(init.Normal(0.1))
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    samples = gluon.data.ArrayDataset(np.array(users), np.array(liked), np.array(liked ^ 1))
    batches = gluon.data.DataLoader(samples, 20)
    seen = {user: [] for user in range(6)}
    tests = {user: [user % 2] for user in range(6)}
    d2l.train_ranking(
        *(net, batches, tests, d2l.BPRLoss(), trainer, None, 6, 8, 8, [cpu()]),
        d2l.evaluate_ranking,
        seen,
    )
    hits, area = d2l.evaluate_ranking(net, tests, None, seen, 6, 8, [cpu(0), cpu(1)][:1])
    assert float(hits) == 1
    assert float(area) > 0.5
    assert "test hit rate 1.000" in capsys.readouterr().out
    ratings = gluon.data.ArrayDataset(np.array(users), np.array(liked), np.ones(60))
    d2l.train_recsys_rating(
        net,
        gluon.data.DataLoader(ratings, 20),
        None,
        gluon.loss.L2Loss(),
        trainer,
        30,
        evaluator=lambda net, test, devices: 0.25,
    )
    out = capsys.readouterr().out
    assert "test RMSE 0.250" in out
    assert float(out.split()[2].rstrip(",")) < 0.1


def test_table_of_ratings(provide: Provide) -> None:
    pytest.importorskip("pandas", reason="the package pandas is not installed")
    rows = [
        (user, item, 1 + (user + item) % 5, 100 - item) for user in (1, 2) for item in (1, 2, 3)
    ]
    provide("ml-100k", {"ml-100k/u.data": "\n".join("\t".join(map(str, row)) for row in rows)})
    data, users, items = d2l.read_data_ml100k()
    assert (users, items) == (2, 3)
    train, test = d2l.split_data_ml100k(data, users, items, "seq-aware")
    assert test.item_id.tolist() == [1, 1]
    assert train.item_id.tolist() == [3, 2, 3, 2]
    *lists, matrix = d2l.load_data_ml100k(train, users, items)
    assert lists == [[0, 0, 1, 1], [2, 1, 2, 1], [5, 4, 1, 5]]
    assert matrix.asnumpy().tolist() == [[0, 0], [4, 5], [5, 1]]
    *lists, seen = d2l.load_data_ml100k(train, users, items, "implicit")
    assert (lists[2], seen) == ([1] * 4, {0: [2, 1], 1: [2, 1]})
    assert sum(len(part) for part in d2l.split_data_ml100k(data, users, items)) == 6
    *_, batches, _ = d2l.split_and_load_ml100k(batch_size=2)
    assert [one.shape for one in next(iter(batches))] == [(2,)] * 3


def test_clicks(tmp_path: Path) -> None:
    file = tmp_path / "train.csv"
    rows = ["1\ta\tx"] * 4 + ["0\tb\tx"] * 4 + ["0\tc\ty", "too short"]
    file.write_text("\n".join(rows))
    data = d2l.CTRDataset(str(file), num_feat=2)
    assert len(data) == 9
    assert data.field_dims.asnumpy().tolist() == [3, 2]
    assert [data[i][0].asnumpy().tolist() for i in (0, 4, 8)] == [[0, 3], [1, 3], [2, 4]]
    X, y = next(iter(gluon.data.DataLoader(data, 9)))
    assert (X.shape, y.shape) == ((9, 2), (9, 1))
    again = d2l.CTRDataset(str(file), data.feat_mapper, data.defaults, num_feat=2)
    assert again[4][0].asnumpy().tolist() == [1, 3]


def test_arrays_in_lists_of_models_learn() -> None:
    class Stack(d2l.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [d2l.RNNScratch(2, 3), d2l.RNNScratch(3, 3)]

    model = Stack()
    assert len(model.parameters()) == 6
    model.set_scratch_params_device(cpu(1))
    assert {one.context for one in model.parameters()} == {cpu(1)}
    with autograd.record():
        value = model.layers[0](np.ones((2, 1, 2), ctx=cpu(1)))[1].sum()
    value.backward()
    assert float(np.abs(model.layers[0].W_xh.grad).sum()) > 0


def test_models_that_name_their_arrays() -> None:
    class Scratch(d2l.Classifier):
        def __init__(self, lr: float = 0.1) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.W, self.table = np.zeros((2, 3)), np.ones(2)
            for array in self.get_scratch_params():
                array.attach_grad()
            self.constant = np.ones(3)

        def collect_params(self, select: str | None = None) -> Any:
            return [self.W]

    model = Scratch()
    assert [array.shape for array in model.get_scratch_params()] == [(2, 3), (2,), (3,)]
    assert [array.shape for array in model.parameters()] == [(2, 3), (2,)]
    assert isinstance(model.configure_optimizers(), d2l.SGD)


def test_the_package_is_found_by_all_its_names() -> None:
    program = """
import sys
import afterglow.as_mxnet
from d2l import mxnet as d2l
import d2l.mxnet as other
print(other is d2l, sys.modules["d2l.mxnet"] is d2l, d2l.__name__)
"""
    assert output_of(program) == ["True True afterglow.books.d2l"]
