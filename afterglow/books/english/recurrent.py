# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks, language models of characters, translation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from afterglow import autograd, gluon, init, np, npx
from afterglow.gluon import nn, rnn

from .._common import Accumulator, Timer, clip_gradients, sgd
from .._figures import Animator
from .._modules import Classifier, Module
from .text import Vocab, truncate_pad

__all__ = [
    "GRU",
    "RNN",
    "RNNLM",
    "Decoder",
    "Encoder",
    "EncoderDecoder",
    "MaskedSoftmaxCELoss",
    "RNNLMScratch",
    "RNNModel",
    "RNNModelScratch",
    "RNNScratch",
    "Seq2Seq",
    "Seq2SeqEncoder",
    "bleu",
    "check_len",
    "check_shape",
    "grad_clipping",
    "predict_ch8",
    "predict_seq2seq",
    "train_ch8",
    "train_epoch_ch8",
    "train_seq2seq",
]


def check_len(a: Any, n: int) -> None:
    """Assert the length of something."""
    assert len(a) == n, f"list's length {len(a)} != expected length {n}"


def check_shape(a: Any, shape: tuple[int, ...]) -> None:
    """Assert the shape of an array."""
    assert a.shape == shape, f"tensor's shape {a.shape} != expected shape {shape}"


def grad_clipping(net: Any, theta: float) -> None:
    """Scale the gradients of a network down so that their common norm is at most ``theta``."""
    if isinstance(net, gluon.Block):
        parameters = net.collect_params().values()
        params = [parameter.data() for parameter in parameters if parameter.grad_req != "null"]
    else:
        params = net.params
    clip_gradients(params, theta)


def _variable(array: Any) -> Any:
    array.attach_grad()
    return array


# --- language models as classes ---


class RNNScratch(Module):
    """A recurrent layer with tanh, on arrays alone."""

    def __init__(self, num_inputs: int, num_hiddens: int, sigma: float = 0.01) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.W_xh = _variable(np.random.normal(0, sigma, (num_inputs, num_hiddens)))
        self.W_hh = _variable(np.random.normal(0, sigma, (num_hiddens, num_hiddens)))
        self.b_h = _variable(np.zeros(num_hiddens))

    def forward(self, inputs: Any, state: Any = None) -> tuple[list[Any], Any]:
        """Return the states after each of the inputs, and the last one."""
        outputs = []
        for X in inputs:
            total = np.dot(X, self.W_xh) + self.b_h
            if state is not None:
                total = total + np.dot(state, self.W_hh)
            state = np.tanh(total)
            outputs.append(state)
        return outputs, state


class RNN(Module):
    """A recurrent layer."""

    def __init__(self, num_hiddens: int) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.rnn: Any = rnn.RNN(num_hiddens)

    def forward(self, inputs: Any, H: Any = None) -> tuple[Any, Any]:
        """Return the outputs and the last state."""
        if H is None:
            (H,) = self.rnn.begin_state(inputs.shape[1], ctx=inputs.context)
        outputs, (H,) = self.rnn(inputs, (H,))
        return outputs, H


class GRU(RNN):
    """Several layers of gated recurrent units."""

    def __init__(self, num_hiddens: int, num_layers: int, dropout: float = 0) -> None:
        Module.__init__(self)
        self.save_hyperparameters()
        self.rnn = rnn.GRU(num_hiddens, num_layers, dropout=dropout)


class RNNLMScratch(Classifier):
    """A language model over a recurrent layer; its output layer is of arrays alone."""

    def __init__(self, rnn: Any, vocab_size: int, lr: float = 0.01) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.init_params()

    def init_params(self) -> None:
        """Make the output layer."""
        shape = (self.rnn.num_hiddens, self.vocab_size)
        self.W_hq = _variable(np.random.normal(0, self.rnn.sigma, shape))
        self.b_q = _variable(np.zeros(self.vocab_size))

    def _step(self, batch: Sequence[Any], train: bool) -> Any:
        value = self.loss(self(*batch[:-1]), batch[-1])
        self.plot("ppl", np.exp(value), train=train)
        return value

    def training_step(self, batch: Sequence[Any]) -> Any:
        """Return the loss of a batch; its perplexity is drawn."""
        return self._step(batch, train=True)

    def validation_step(self, batch: Sequence[Any]) -> None:
        """Draw the perplexity of a batch."""
        self._step(batch, train=False)

    def one_hot(self, X: Any) -> Any:
        """Return indicators with the axes (time, batch, token)."""
        return npx.one_hot(X.T, self.vocab_size)

    def output_layer(self, rnn_outputs: Any) -> Any:
        """Return the scores with the axes (batch, time, token)."""
        return np.stack([np.dot(H, self.W_hq) + self.b_q for H in rnn_outputs], 1)

    def forward(self, X: Any, *args: Any) -> Any:
        """Return the scores of the tokens that follow."""
        state = args[0] if args else None
        outputs, _ = self.rnn(self.one_hot(X), state)
        return self.output_layer(outputs)

    def predict(self, prefix: str, num_preds: int, vocab: Vocab, device: Any = None) -> str:
        """Return a text with its most probable continuation."""

        def step(token: int, state: Any) -> tuple[Any, Any]:
            return self.rnn(self.one_hot(np.array([[token]], ctx=device)), state)  # type: ignore[no-any-return]

        def choose(outputs: Any) -> int:
            return int(self.output_layer(outputs).argmax(axis=2).item())

        return "".join(_continued(prefix, num_preds, vocab, step, choose, None))


class RNNLM(RNNLMScratch):
    """A language model over a recurrent layer, with a dense layer for the output."""

    def init_params(self) -> None:
        """Make the output layer."""
        self.linear = nn.Dense(self.vocab_size, flatten=False)
        self.initialize()

    def output_layer(self, hiddens: Any) -> Any:
        """Return the scores with the axes (batch, time, token)."""
        return self.linear(hiddens).swapaxes(0, 1)


def _continued(
    prefix: str,
    num_preds: int,
    vocab: Vocab,
    step: Callable[[int, Any], tuple[Any, Any]],
    choose: Callable[[Any], int],
    state: Any,
) -> list[str]:
    """Return the tokens of a text and those that a model puts after it."""
    numbers = [vocab[token] for token in prefix]
    for token in numbers[:-1]:
        _, state = step(token, state)
    for _ in range(num_preds):
        outputs, state = step(numbers[-1], state)
        numbers.append(choose(outputs))
    return [vocab.idx_to_token[number] for number in numbers]


# --- language models as functions ---


class RNNModelScratch:
    """A recurrent network made of functions."""

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        device: Any,
        get_params: Callable[..., Any],
        init_state: Callable[..., Any],
        forward_fn: Callable[..., Any],
    ) -> None:
        self.vocab_size, self.num_hiddens = vocab_size, num_hiddens
        self.params = get_params(vocab_size, num_hiddens, device)
        self.init_state, self.forward_fn = init_state, forward_fn

    def __call__(self, X: Any, state: Any) -> Any:
        """Return scores and the new state."""
        return self.forward_fn(npx.one_hot(X.T, self.vocab_size), state, self.params)

    def begin_state(self, batch_size: int, ctx: Any) -> Any:
        """Return the state to begin with."""
        return self.init_state(batch_size, self.num_hiddens, ctx)


class RNNModel(nn.Block):
    """A recurrent layer and a dense one."""

    def __init__(self, rnn_layer: Any, vocab_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rnn = rnn_layer
        self.vocab_size = vocab_size
        self.dense = nn.Dense(vocab_size)

    def forward(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Return scores and the new state."""
        Y, state = self.rnn(npx.one_hot(inputs.T, self.vocab_size), state)
        return self.dense(Y.reshape((-1, Y.shape[-1]))), state

    def begin_state(self, *args: Any, **kwargs: Any) -> Any:
        """Return the state to begin with."""
        return self.rnn.begin_state(*args, **kwargs)


def predict_ch8(prefix: str, num_preds: int, net: Any, vocab: Vocab, device: Any) -> str:
    """Return a text with its most probable continuation."""

    def step(token: int, state: Any) -> tuple[Any, Any]:
        return net(np.array([[token]], ctx=device), state)  # type: ignore[no-any-return]

    def choose(outputs: Any) -> int:
        return int(outputs.argmax(axis=1).item())

    state = net.begin_state(batch_size=1, ctx=device)
    return "".join(_continued(prefix, num_preds, vocab, step, choose, state))


def train_epoch_ch8(
    net: Any,
    train_iter: Iterable[tuple[Any, Any]],
    loss: Callable[..., Any],
    updater: Callable[..., Any],
    device: Any,
    use_random_iter: bool,
) -> tuple[float, float]:
    """Train on all batches once; return the perplexity and tokens per second."""
    state, timer, metric = None, Timer(), Accumulator(2)
    for X, Y in train_iter:
        if state is None or use_random_iter:
            state = net.begin_state(batch_size=X.shape[0], ctx=device)
        y = Y.T.reshape(-1).as_in_ctx(device)
        with autograd.record():
            y_hat, state = net(X.as_in_ctx(device), state)
            value = loss(y_hat, y).mean()
        value.backward()
        grad_clipping(net, 1)
        updater(batch_size=1)
        state = [one.detach() for one in state]
        metric.add(value.item() * y.size, y.size)
    return math.exp(metric[0] / metric[1]), metric[1] / timer.stop()


def train_ch8(
    net: Any,
    train_iter: Iterable[tuple[Any, Any]],
    vocab: Vocab,
    lr: float,
    num_epochs: int,
    device: Any,
    use_random_iter: bool = False,
) -> None:
    """Train a language model, draw how it goes, and let it write."""
    animator = Animator("epoch", "perplexity", ["train"], [10, num_epochs])
    updater: Callable[..., Any]
    if isinstance(net, gluon.Block):
        net.initialize(ctx=device, force_reinit=True, init=init.Normal(0.01))
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": lr})
        updater = trainer.step
    else:

        def updater(batch_size: int) -> None:
            sgd(net.params, lr, batch_size)

    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    perplexity = speed = 0.0
    for epoch in range(num_epochs):
        perplexity, speed = train_epoch_ch8(net, train_iter, loss, updater, device, use_random_iter)
        if (epoch + 1) % 10 == 0:
            animator.add(epoch + 1, [perplexity])
    print(f"perplexity {perplexity:.1f}, {speed:.1f} tokens/sec on {device}")
    for prefix in ("time traveller", "traveller"):
        print(predict_ch8(prefix, 50, net, vocab, device))


# --- translation ---


class Encoder(nn.Block):
    """Something that reads a sequence."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def forward(self, X: Any, *args: Any) -> Any:
        """Return what is known of the sequence."""
        raise NotImplementedError


class Decoder(nn.Block):
    """Something that writes a sequence."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def init_state(self, enc_all_outputs: Any, *args: Any) -> Any:
        """Return the state to begin with."""
        raise NotImplementedError

    def forward(self, X: Any, state: Any) -> Any:
        """Return the outputs and the new state."""
        raise NotImplementedError


class EncoderDecoder(Classifier):
    """An encoder and a decoder.

    The class itself returns outputs and state, as in the book's version 0.17; models that derive
    from it are those of version 1.0, and return the outputs alone.
    """

    def __init__(self, encoder: Any, decoder: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Initialize both; encoders know by it which version of the book they are used by."""
        self.encoder.initialize(*args, **kwargs)
        self.decoder.initialize(*args, **kwargs)

    def forward(self, enc_X: Any, *args: Any) -> Any:
        """Return what the decoder makes of ``dec_X``, the second argument."""
        dec_X, *lengths = args
        state = self.decoder.init_state(self.encoder(enc_X, *lengths), *lengths)
        outputs = self.decoder(dec_X, state)
        return outputs if type(self) is EncoderDecoder else outputs[0]

    def predict_step(
        self,
        batch: Sequence[Any],
        device: Any,
        num_steps: int,
        save_attention_weights: bool = False,
    ) -> tuple[Any, list[Any]]:
        """Return the most probable tokens of so many steps, and the weights of attention."""
        source, target, lengths, *_ = (array.as_in_ctx(device) for array in batch)
        state = self.decoder.init_state(self.encoder(source, lengths), lengths)
        outputs, weights = [target[:, :1]], []
        for _ in range(num_steps):
            Y, state = self.decoder(outputs[-1], state)
            outputs.append(Y.argmax(2))
            if save_attention_weights:
                weights.append(self.decoder.attention_weights)
        return np.concatenate(outputs[1:], 1), weights


class Seq2SeqEncoder(Encoder):
    """Reads a sentence with gated recurrent units.

    Its state is an array, as in version 1.0, where encoders initialize themselves. Programs written
    for version 0.17 call ``initialize``, and have a list of one array from then on.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        num_hiddens: int,
        num_layers: int,
        dropout: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = GRU(num_hiddens, num_layers, dropout)
        super().initialize(init.Xavier())
        self._lists_states = False

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Initialize the parameters again, or on another device."""
        super().initialize(*args, **kwargs)
        self._lists_states = True

    def forward(self, X: Any, *args: Any) -> tuple[Any, Any]:
        """Return the outputs of all steps, and the last state."""
        outputs, state = self.rnn(self.embedding(X.T))
        return outputs, [state] if self._lists_states else state


class Seq2Seq(EncoderDecoder):
    """An encoder and a decoder that learn together."""

    def __init__(self, encoder: Any, decoder: Any, tgt_pad: int, lr: float) -> None:
        super().__init__(encoder, decoder)
        self.save_hyperparameters()

    def validation_step(self, batch: Sequence[Any]) -> None:
        """Draw the loss of a batch."""
        self.plot("loss", self.loss(self(*batch[:-1]), batch[-1]), train=False)

    def configure_optimizers(self) -> gluon.Trainer:
        """Return Adam."""
        return gluon.Trainer(self.parameters(), "adam", {"learning_rate": self.lr})

    def loss(self, Y_hat: Any, Y: Any, averaged: bool = True) -> Any:
        """Return the cross entropy of what is not padding."""
        value = super().loss(Y_hat, Y, averaged=False)
        mask = (Y.reshape(-1) != self.tgt_pad).astype(np.float32)
        return (value * mask).sum() / mask.sum() if averaged else value * mask


class MaskedSoftmaxCELoss(gluon.loss.SoftmaxCELoss):
    """The cross entropy of the first ``valid_len`` tokens of each row."""

    def forward(self, pred: Any, label: Any, valid_len: Any) -> Any:
        """Return the losses of the rows."""
        weights = np.ones((*label.shape, 1), ctx=label.context)
        weights = npx.sequence_mask(weights, valid_len, True, axis=1)
        return super().forward(pred, label, weights)


def train_seq2seq(
    net: Any,
    data_iter: Iterable[Sequence[Any]],
    lr: float,
    num_epochs: int,
    tgt_vocab: Vocab,
    device: Any,
) -> None:
    """Train an encoder and a decoder with batches of ``load_data_nmt``, and draw how it goes."""
    net.initialize(init.Xavier(), force_reinit=True, ctx=device)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": lr})
    loss = MaskedSoftmaxCELoss()
    animator = Animator(xlabel="epoch", ylabel="loss", xlim=[10, num_epochs])
    metric, timer = Accumulator(2), Timer()
    for epoch in range(num_epochs):
        metric, timer = Accumulator(2), Timer()
        for batch in data_iter:
            X, X_valid_len, Y, Y_valid_len = (array.as_in_ctx(device) for array in batch)
            begin = np.full((Y.shape[0], 1), tgt_vocab["<bos>"], dtype=Y.dtype, ctx=device)
            with autograd.record():
                state = net.decoder.init_state(net.encoder(X, X_valid_len), X_valid_len)
                Y_hat = net.decoder(np.concatenate([begin, Y[:, :-1]], 1), state)[0]
                value = loss(Y_hat, Y, Y_valid_len)
            value.backward()
            grad_clipping(net, 1)
            tokens = Y_valid_len.sum().item()
            trainer.step(tokens)
            metric.add(value.sum().item(), tokens)
        if (epoch + 1) % 10 == 0:
            animator.add(epoch + 1, (metric[0] / metric[1],))
    print(
        f"loss {metric[0] / metric[1]:.3f}, {metric[1] / timer.stop():.1f} tokens/sec on {device}"
    )


def predict_seq2seq(
    net: Any,
    src_sentence: str,
    src_vocab: Vocab,
    tgt_vocab: Vocab,
    num_steps: int,
    device: Any,
    save_attention_weights: bool = False,
) -> tuple[str, list[Any]]:
    """Return the translation of a sentence, and the weights of attention."""
    words = [*src_vocab[src_sentence.lower().split(" ")], src_vocab["<eos>"]]
    length = np.array([len(words)], ctx=device)
    source = np.array([truncate_pad(words, num_steps, src_vocab["<pad>"])], ctx=device)
    state = net.decoder.init_state(net.encoder(source, length), length)
    X = np.array([[tgt_vocab["<bos>"]]], ctx=device)
    numbers: list[int] = []
    weights: list[Any] = []
    for _ in range(num_steps):
        Y, state = net.decoder(X, state)
        X = Y.argmax(axis=2)
        if save_attention_weights:
            weights.append(net.decoder.attention_weights)
        number = int(X.item())
        if number == tgt_vocab["<eos>"]:
            break
        numbers.append(number)
    return " ".join(tgt_vocab.to_tokens(numbers)), weights


def bleu(pred_seq: str, label_seq: str, k: int) -> float:
    """Return how much of a translation's runs of up to ``k`` words are in the right one.

    >>> from afterglow.books import d2l
    >>> d2l.bleu("he is calm .", "he is calm .", k=2)
    1.0
    """
    words, expected = pred_seq.split(" "), label_seq.split(" ")
    score = math.exp(min(0, 1 - len(expected) / len(words)))
    for n in range(1, min(k, len(words)) + 1):
        runs, right = (
            Counter(tuple(side[i : i + n]) for i in range(len(side) - n + 1))
            for side in (words, expected)
        )
        score *= ((runs & right).total() / runs.total()) ** (0.5**n)
    return score
