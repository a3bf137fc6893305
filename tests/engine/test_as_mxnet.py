# SPDX-License-Identifier: Apache-2.0
"""``import afterglow.as_mxnet`` makes ``mxnet`` mean Afterglow."""

from __future__ import annotations

from support import run_child


def lines_of(script: str) -> list[str]:
    done = run_child(script, prelude=False)
    assert (done.code, done.err) == (0, ""), done.out + done.err
    return done.out.splitlines()


def test_not_without_asking() -> None:
    done = run_child("import afterglow\nimport mxnet", prelude=False)
    assert done.code == 1
    assert "ModuleNotFoundError" in done.err


def test_same_module_objects() -> None:
    assert lines_of(
        """
        import pkgutil, sys
        import afterglow as ours
        import afterglow.as_mxnet
        import mxnet as mx
        assert mx is ours
        from mxnet import nd, np, npx
        assert (nd, np, npx) == (ours.nd, ours.np, ours.npx)
        import mxnet.ndarray
        import mxnet.numpy as mnp
        import mxnet.random, mxnet.engine, mxnet.context, mxnet.base
        assert mxnet.ndarray is ours.ndarray and mnp is ours.np and mxnet.engine is ours.engine
        from mxnet.base import MXNetError
        from mxnet.ndarray import NDArray
        assert MXNetError is ours.MXNetError and NDArray is ours.nd.NDArray
        import importlib
        for module in pkgutil.walk_packages(ours.__path__, "afterglow."):
            tail = module.name.partition(".")[2]
            if tail.split(".")[-1].startswith("_") or tail in ("as_mxnet", "tour", "__main__"):
                continue
            original = importlib.import_module(module.name)
            assert importlib.import_module("mxnet." + tail) is original, tail
        print("ok")
        """
    ) == ["ok"]


def test_programs_use_what_mxnet_has_imported() -> None:
    script = """
    import multiprocessing
    import afterglow.as_mxnet
    import mxnet
    print(multiprocessing.pool.ThreadPool(1).map(abs, [-1]))
    """
    assert lines_of(script) == ["[1]"]


def test_one_array_class() -> None:
    assert lines_of(
        """
        import afterglow as ours
        import afterglow.as_mxnet
        import mxnet as mx
        x = mx.nd.ones((2,))
        y = ours.nd.ones((2,))
        assert type(x) is type(y) is mx.nd.NDArray is ours.ndarray.NDArray
        assert isinstance(mx.np.ones((2,)), ours.nd.NDArray)
        print((x + y).asnumpy().tolist())
        """
    ) == ["[2.0, 2.0]"]


def test_import_order_does_not_matter() -> None:
    assert lines_of(
        """
        import afterglow.as_mxnet
        from mxnet.ndarray import NDArray
        import mxnet.numpy.random
        import afterglow
        print(NDArray is afterglow.nd.NDArray, mxnet.numpy.random is afterglow.np.random)
        """
    ) == ["True True"]


def test_twice_is_as_good_as_once() -> None:
    assert lines_of(
        """
        import importlib
        import afterglow.as_mxnet
        import mxnet
        importlib.reload(afterglow.as_mxnet)
        import mxnet as again
        print(again is mxnet)
        """
    ) == ["True"]


def test_version() -> None:
    assert lines_of(
        """
        import afterglow.as_mxnet
        import mxnet as mx
        version = mx.__version__
        numbers = tuple(int(part) for part in version.split(".")[:3])
        print(numbers == (1, 9, 1), version >= "1.6", version < "2", version.startswith("1.9.1"))
        """
    ) == ["True True True True"]


def test_submodule_that_does_not_exist() -> None:
    assert lines_of(
        """
        import afterglow.as_mxnet
        try:
            import mxnet.no_such_thing
        except ModuleNotFoundError as problem:
            print(problem.name)
        """
    ) == ["mxnet.no_such_thing"]


def test_refuses_beside_the_real_one() -> None:
    assert lines_of(
        """
        import sys, types
        real = types.ModuleType("mxnet")
        real.__version__ = "1.9.1"
        sys.modules["mxnet"] = real
        try:
            import afterglow.as_mxnet
        except ImportError as problem:
            print("mxnet" in str(problem).lower(), len(str(problem)) > 30)
        print(sys.modules["mxnet"] is real)
        """
    ) == ["True True", "True"]
