# SPDX-License-Identifier: Apache-2.0
"""Plans of hybridized blocks do not outlive what they were made from."""

from __future__ import annotations

import collections
import threading
import warnings

import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd
from afterglow.gluon import nn

CALLS = 4  #: the first runs as it is, the second is written down, the others are replayed


def plan_count(block):
    return sum(bool(known) for known in block._block_compiled._plans.values())


class Masked(gluon.HybridBlock):
    """Multiplies with an array that it has as an attribute."""

    def __init__(self, mask, **kwargs):
        super().__init__(**kwargs)
        self.mask = mask

    def forward(self, x):
        return x if self.mask is None else x * self.mask


class Weighted(gluon.HybridBlock):
    """Has a parameter, and does something else after it was read."""

    def __init__(self, then=None, **kwargs):
        super().__init__(**kwargs)
        self.then = then
        with self.name_scope():
            self.w = self.params.get("w", shape=(3,), init="ones")

    def forward(self, x):
        y = x * self.w.data()
        if self.then:
            self.then()
        return y


@pytest.mark.parametrize("nested", [False, True], ids=["alone", "child"])
def test_an_array_among_the_attributes_is_exchanged(nested):
    masked = Masked(nd.array([1, 1, 0]))
    block = masked
    if nested:
        block = nn.HybridSequential()
        block.add(masked)
    block.hybridize()
    x = nd.ones((3,))
    for mask in ([0, 0, 1], None, [0, 2, 0], [3, 0, 0], None):
        for _ in range(CALLS):
            block(x)
        assert plan_count(block) == 1
        masked.mask = None if mask is None else nd.array(mask)
        for _ in range(CALLS):
            assert block(x).asnumpy().tolist() == (mask or [1, 1, 1])


def test_an_array_assigned_before_the_block_is_made():
    class Early(gluon.HybridBlock):
        def __init__(self, mask, **kwargs):
            self.mask = mask
            super().__init__(**kwargs)

        def forward(self, x):
            return x * self.mask

    block = Early(nd.array([1, 2]))
    block.hybridize()
    for _ in range(CALLS):
        assert block(nd.ones((2,))).asnumpy().tolist() == [1, 2]


def test_an_array_that_no_plan_reads_may_be_exchanged_all_the_time():
    block = nn.Dense(2, in_units=3)
    block.initialize()
    block.hybridize()
    for _ in range(CALLS):
        block.last = block(nd.ones((1, 3)))
    assert plan_count(block) == 1


def test_an_array_assigned_by_the_block_itself():
    class Counting(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.count = nd.zeros((1,))

        def forward(self, x):
            self.count = self.count + 1
            return x * self.count

    block = Counting()
    block.hybridize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [block(nd.ones((1,))).asscalar() for _ in range(CALLS)]
    assert found == [1, 2, 3, 4]
    assert block.count.asscalar() == CALLS
    assert ["assigns an array to its attribute 'count'" in str(one.message) for one in caught] == [
        True
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda block: block.w.initialize(mx.init.Constant(7), force_reinit=True),
        lambda block: (block.w.set_data(nd.ones((3,)) * 7), block.w.cast("float32")),
        lambda block: (block.w.set_data(nd.ones((3,)) * 7), block.w.reset_ctx(mx.cpu(0))),
    ],
    ids=["initialize", "cast", "reset_ctx"],
)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["inside", "another thread"])
def test_a_parameter_is_made_anew_while_calls_are_written_down(change, elsewhere):
    runs = []

    def then():
        runs.append(1)
        if len(runs) == 2:
            if elsewhere:
                thread = threading.Thread(target=change, args=(block,))
                thread.start()
                thread.join()
            else:
                change(block)

    block = Weighted(then)
    block.initialize()
    block.hybridize()
    x = nd.ones((3,))
    for _ in range(2):
        block(x)
    for _ in range(CALLS):
        assert block(x).asnumpy().tolist() == [7, 7, 7]
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 1})
    for _ in range(CALLS):
        with autograd.record():
            y = block(x)
        y.backward()
        trainer.step(1)
    assert block(x).asnumpy().tolist() == [3, 3, 3]
    assert plan_count(block) == 2
    block.then = None


def test_a_parameter_that_fails_to_be_made_anew():
    block = Weighted()
    block.initialize()
    block.hybridize()
    for _ in range(CALLS):
        block(nd.ones((3,)))

    class Failing(mx.init.Initializer):
        def _init_weight(self, name, arr):
            raise KeyError("on purpose")

    block.w.init = None
    with pytest.raises(KeyError):
        block.initialize(Failing(), force_reinit=True)
    with pytest.raises(RuntimeError, match="not been initialized"):
        block(nd.ones((3,)))


def test_a_captured_array_gets_a_gradient_later():
    mask = nd.array([2, 3, 4])
    block = Masked(mask)
    block.hybridize()
    x = nd.ones((3,))
    x.attach_grad()

    def gradients():
        with autograd.record():
            y = block(x)
        y.backward()
        return x.grad.asnumpy().tolist()

    for _ in range(CALLS):
        assert gradients() == [2, 3, 4]
    assert plan_count(block) == 1
    mask.attach_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            assert gradients() == [2, 3, 4]
            assert mask.grad.asnumpy().tolist() == [1, 1, 1]
            mask.grad[:] = 0


def test_a_captured_array_is_written_on_the_tape_later():
    mask, w = nd.array([2, 3, 4]), nd.ones((3,))
    w.attach_grad()
    block = Masked(mask)
    block.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            with autograd.record():
                block(nd.array([1, 2, 3]))
        for _ in range(CALLS):
            with autograd.record():
                mask[:] = w * 5
                y = block(nd.array([1, 2, 3]))
            y.backward()
            assert w.grad.asnumpy().tolist() == [5, 10, 15]


def test_a_gradient_that_cannot_be_computed_is_told_by_backward():
    class Fails(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            raise KeyError("on purpose")

    class Block(gluon.HybridBlock):
        def forward(self, x):
            return Fails()(x)

    block = Block()
    block.hybridize()
    x = nd.ones((2,))
    x.attach_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            with autograd.record():
                y = block(x)
            assert y.asnumpy().tolist() == [2, 2]
            with pytest.raises(KeyError):
                y.backward()


# --- nested arguments and results ---


class Passing(gluon.HybridBlock):
    """Returns what it is given, and one more."""

    def forward(self, x, nested):
        return nested, x + 1


def test_lists_without_end():
    block = Passing()
    block.hybridize()
    x = nd.ones((1,))
    cyclic = [x]
    cyclic.append(cyclic)
    deep = x
    for _ in range(100_000):
        deep = [deep]
    for nested in (cyclic, deep, (cyclic,), 3):
        for number in range(CALLS):
            same, more = block(x * number, nested)
            assert same is nested
            assert more.asscalar() == number + 1
    cyclic.clear()


def test_results_without_end():
    class Block(gluon.HybridBlock):
        def forward(self, x):
            result = [x + 1]
            result.append(result)
            return result

    block = Block()
    block.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(CALLS):
            result = block(nd.ones((1,)) * number)
            assert result[1] is result
            assert result.pop(0).asscalar() == number + 1
            result.clear()


def test_named_tuples():
    Pair = collections.namedtuple("Pair", "left right")

    class Block(gluon.HybridBlock):
        def forward(self, pair):
            return Pair(pair.left + 1, (pair.right, 0))

    block = Block()
    block.hybridize()
    for number in range(CALLS):
        x = nd.ones((1,)) * number
        found = block(Pair(x, x * 2))
        assert found.left.asscalar() == number + 1
        assert found.right[0].asscalar() == number * 2

    class Returning(gluon.HybridBlock):
        def forward(self, x):
            return Pair(x + 1, (x, 0))

    block = Returning()
    block.hybridize()
    for number in range(CALLS):
        x = nd.ones((1,)) * number
        found = block(x)
        assert type(found) is Pair
        assert found.left.asscalar() == number + 1
        assert found.right == (x, 0)
    assert plan_count(block) == 1
