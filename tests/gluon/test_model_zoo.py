# SPDX-License-Identifier: Apache-2.0
"""``gluon.model_zoo``, beside what MXNet 1.9.1 says of its networks (``golden/zoo.json``)."""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import run_child

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx
from afterglow.gluon.model_zoo import model_store, vision

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))

from zoo import (  # noqa: E402
    NETS,
    SIZES,
    SMALL,
    answer_of_model,
    answer_of_net,
    files_of,
    filled,
    images,
    make_net,
    names_in,
)

RECORDED: dict[str, Any] = json.loads((GOLDEN / "zoo.json").read_text())


# --- structure ---


@pytest.mark.parametrize("name", RECORDED["models"])
def test_parameters_and_graph(name: str) -> None:
    """All names, attributes, shapes and layers, in order, and all nodes of the graph."""
    assert answer_of_model(mx, name) == RECORDED["models"][name]


@pytest.mark.parametrize("name", SMALL)
def test_names(name: str) -> None:
    assert names_in(mx, name) == RECORDED["names"][name]


def test_every_model_is_a_function_too() -> None:
    functions = {name for name in vision.__all__ if name[0].islower() and name[:4] != "get_"}
    assert {one.__name__ for one in vision._MODELS.values()} == functions
    assert set(SIZES) < set(vision._MODELS) == set(RECORDED["models"])
    for name in functions:
        function = getattr(vision, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__doc__
    assert vision.vgg13_bn.__doc__ == "Return ``get_vgg(13, batch_norm=True, **kwargs)``."


def test_arguments_reach_the_network() -> None:
    net = vision.get_model("VGG11_BN", classes=7, prefix="mine_")
    assert type(net) is vision.VGG
    assert net.output.weight.name == "mine_dense2_weight"
    assert net.output.weight.shape == (7, 0)
    assert vision.vgg11_bn(batch_norm=False).features[1].name.endswith("batchnorm0")
    assert type(vision.get_resnet(2, 34, classes=3)) is vision.ResNetV2
    assert vision.get_vgg(16).features[0].weight.init.dumps() == (
        '["xavier", {"rnd_type": "gaussian", "factor_type": "out", "magnitude": 2}]'
    )


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Model resnet18v1 is not .*; did you mean resnet18_v1"):
        vision.get_model("resnet18v1")
    with pytest.raises(ValueError, match="is not supported; Available options are alexnet, dense"):
        vision.get_model("0")
    with pytest.raises(AssertionError, match=r"num_layers is 20; it must be among \[18, 34, 50"):
        vision.get_resnet(1, 20)
    with pytest.raises(AssertionError, match="version is 3; it must be 1 or 2"):
        vision.get_resnet(3, 18)
    with pytest.raises(AssertionError, match="num_layers is 12"):
        vision.get_vgg(12)
    with pytest.raises(AssertionError, match=r"version is '1\.2'"):
        vision.SqueezeNet("1.2")
    with pytest.raises(AssertionError, match=r"layers are \[1\], channels \[4\]"):
        vision.ResNetV1(vision.BasicBlockV1, [1], [4])
    with pytest.raises(AssertionError, match=r"layers are \[1\], filters \[4, 8\]"):
        vision.VGG([1], [4, 8])
    with pytest.raises(TypeError, match=r"unknown keyword 'clases' \(did you mean 'classes'"):
        vision.alexnet(clases=3)


# --- values ---


@pytest.mark.parametrize("name", NETS)
def test_outputs(name: str) -> None:
    onp.testing.assert_allclose(
        answer_of_net(mx, name), RECORDED["outputs"][name], rtol=2e-4, atol=2e-5
    )


@pytest.mark.parametrize(
    "name", [name for name, (_, size) in NETS.items() if size < 64 and "vgg" not in name]
)
def test_hybridized_and_of_np(name: str) -> None:
    net, x = filled(mx, name)
    wanted = net(x).asnumpy()
    onp.testing.assert_array_equal(net(x.as_np_ndarray()).asnumpy(), wanted)
    net.hybridize()
    for _ in range(3):
        found = net(x)
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def test_training() -> None:
    mx.random.seed(3)
    net = vision.MobileNetV2(0.1, classes=3)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})
    # Of large pictures that differ: the variances of few numbers magnify every rounding.
    x = nd.array(onp.random.RandomState(0).randn(8, 3, 64, 64))
    labels = nd.array([0, 2] * 4)
    losses = []
    for _ in range(6):
        with autograd.record():
            loss = gluon.loss.SoftmaxCELoss()(net(x), labels)
        loss.backward()
        trainer.step(8)
        losses.append(loss.mean().asscalar())
    assert losses[-1] < losses[0] / 2


def test_features_are_a_network() -> None:
    net, x = filled(mx, "resnet, basic, 2")
    assert net.features(x).shape == (2, 6)
    other = make_net(mx, "ResNetV2(BasicBlockV2, [2, 1], [4, 4, 6], classes=9)")
    other.features = net.features
    other.output.initialize()
    assert other(x).shape == (2, 9)


# --- files ---


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with MXNet's files of the smallest network."""
    recorded = RECORDED["files"]
    (tmp_path / "net-symbol.json").write_text(recorded["symbol"])
    for kind in ("exported", "attributes"):
        (tmp_path / f"{kind}.params").write_bytes(base64.b64decode(recorded[kind]))
    return tmp_path


def test_files_of_mxnet(files: Path) -> None:
    text, size = NETS[SMALL[0]]
    x, wanted = nd.array(images(size)), RECORDED["outputs"][SMALL[0]]
    nets = [make_net(mx, text) for _ in range(2)]
    nets[0].load_parameters(str(files / "attributes.params"))
    nets[1].collect_params().load(str(files / "exported.params"))
    nets.append(
        gluon.SymbolBlock.imports(
            str(files / "net-symbol.json"), ["data"], str(files / "exported.params")
        )
    )
    for net in nets:
        onp.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def test_files_for_mxnet(tmp_path: Path) -> None:
    """What we write is what MXNet writes, byte for byte."""
    assert files_of(mx, SMALL[0], tmp_path) == RECORDED["files"]


@pytest.mark.parametrize("name", ["resnet, narrow, 1", "mobilenet_v2", "densenet"])
def test_exported(name: str, tmp_path: Path) -> None:
    net, x = filled(mx, name)
    net.hybridize()
    wanted = net(x).asnumpy()
    net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    onp.testing.assert_allclose(again(x).asnumpy(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["resnet, basic, 2", "mobilenet_v2", "squeezenet1_1", "densenet"])
def test_onnx(name: str, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")
    net, x = filled(mx, name)
    net.hybridize()
    wanted = net(x).asnumpy()
    net.export(str(tmp_path / "net"))
    path = str(tmp_path / "net.onnx")
    mx.onnx.export_model(
        *(str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0000.params")),
        *([x.shape], "float32", path),
    )
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"data": x.asnumpy()})
    onp.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["resnet, narrow, 1", "resnet, basic, 2", "mobilenet_v2"])
def test_in_np_mode(name: str, tmp_path: Path) -> None:
    npx.set_np()
    try:
        net = make_net(mx, NETS[name][0])
        net.initialize()
        net.hybridize()
        x = np.array(images(32))
        wanted = net(x)
        assert type(wanted) is np.ndarray
        net.export(str(tmp_path / "net"))
        again = gluon.SymbolBlock.imports(
            str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
        )
        onp.testing.assert_allclose(again(x).asnumpy(), wanted.asnumpy(), rtol=1e-4, atol=1e-5)
    finally:
        npx.reset_np()


# --- trained parameters ---


def test_sums() -> None:
    assert dict(sorted(model_store._model_sha1.items())) == RECORDED["sums"]
    assert model_store.short_hash("mobilenetv2_0.25") == "ae8f9392"
    with pytest.raises(ValueError, match=r"Pretrained model for lenet is not available; .* vgg19"):
        model_store.short_hash("lenet")


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of parameters that passes for the trained ones of a model."""
    net = vision.squeezenet1_1()
    net.initialize(mx.init.One())
    net(nd.zeros((1, 3, 224, 224)))
    path = tmp_path / "trained.params"
    net.save_parameters(str(path))
    sha1 = hashlib.sha1(path.read_bytes()).hexdigest()
    monkeypatch.setitem(model_store._model_sha1, "squeezenet1.1", sha1)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MXNET_GLUON_REPO", (tmp_path / "store").as_uri())
    return path


def file_of(folder: Path) -> Path:
    return folder / f"squeezenet1.1-{model_store.short_hash('squeezenet1.1')}.params"


def check(net: Any) -> None:
    weight = net.features[0].weight
    assert weight.list_ctx() == [mx.cpu()]
    assert (weight.data() == 1).asnumpy().all()


def test_a_file_that_is_there(trained: Path, tmp_path: Path) -> None:
    for folder, given in ((tmp_path / "home" / "models", {}), (tmp_path, {"root": str(tmp_path)})):
        file = file_of(folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(trained.read_bytes())
        assert model_store.get_model_file("squeezenet1.1", **given) == str(file)
        check(vision.squeezenet1_1(pretrained=True, **given))
        model_store.purge(**given)
        assert not file.exists()


def test_programs_may_say_where_files_are(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They put a function of their own in the place of ``get_model_file``, as for MXNet."""
    monkeypatch.setattr(model_store, "get_model_file", lambda name, root=None: str(trained))
    check(vision.squeezenet1_1(pretrained=True))


def test_a_file_that_is_fetched(trained: Path, tmp_path: Path) -> None:
    file = file_of(tmp_path / "home" / "models")
    archive = tmp_path / "store" / "gluon" / "models" / f"{file.stem}.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as members:
        members.write(trained, file.name)
    check(vision.get_model("squeezenet1.1", pretrained=True, ctx=mx.cpu()))
    file.write_bytes(b"damaged")
    check(vision.squeezenet1_1(pretrained=True))
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_a_file_that_cannot_be_had(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error says which file, into which folder, and from where it would have come."""
    file = file_of(tmp_path / "home" / "models")
    archive = tmp_path / "store" / "gluon" / "models" / f"{file.stem}.zip"
    wanted = f"put {file.name}, which is in that archive, into {file.parent} yourself"

    def said(state: str, reason: str) -> str:
        text = re.escape(f"{file} {state}, and {archive.as_uri()} could not be fetched (")
        return f"{text}[^;]*{reason}[^;]*; {re.escape(wanted)}"

    with pytest.raises(OSError, match=said("is not there", "No such file")):
        vision.squeezenet1_1(pretrained=True)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"no archive")
    with pytest.raises(OSError, match=said("is not there", "not a zip file")):
        vision.squeezenet1_1(pretrained=True)
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("other", b"")
    with pytest.raises(OSError, match=said("is not there", "no item named")):
        vision.squeezenet1_1(pretrained=True)
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr(file.name, b"damaged")
    file.write_bytes(b"old")
    sha1 = model_store._model_sha1["squeezenet1.1"]
    with pytest.raises(OSError, match=said(f"has not the SHA-1 sum {sha1}", "has not the SHA-1")):
        vision.squeezenet1_1(pretrained=True)
    monkeypatch.setenv("MXNET_GLUON_REPO", "nowhere")
    with pytest.raises(OSError, match=r"nowhere/gluon/models/.*unknown url type"):
        vision.squeezenet1_1(pretrained=True)
    assert file.read_bytes() == b"old"
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_unknown_files() -> None:
    with pytest.raises(ValueError, match=r"Pretrained model for mobilenet0\.30 is not available"):
        vision.get_mobilenet(0.3, pretrained=True)


def test_the_zoo_is_imported_when_it_is_asked_for() -> None:
    done = run_child(
        """
        import sys
        name = "afterglow.gluon.model_zoo"
        print(name in sys.modules, "model_zoo" in dir(mx.gluon))
        print(mx.gluon.model_zoo.__name__ == name)
        """
    )
    assert (done.out, done.err) == ("False True\nTrue\n", "")
