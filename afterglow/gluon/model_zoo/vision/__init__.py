# SPDX-License-Identifier: Apache-2.0
"""``gluon.model_zoo.vision``: networks that tell what is on images.

They take batches of images (N, 3, H, W), and give a score for each of ``classes``. With
``pretrained`` their parameters are those of MXNet's training, on the device ``ctx``, out of a file
in the folder ``root`` (``model_store.get_model_file``). Such networks expect 224 by 224 pixels or
more (Inception 299), whose channels are red, green and blue from 0 to 1, less ``[0.485, 0.456,
0.406]``, divided by ``[0.229, 0.224, 0.225]``.
"""

from __future__ import annotations

import re
from typing import Any

from ...._package.namespace import did_you_mean
from ....error import ArrayValueError
from .. import model_store
from . import alexnet as _alexnet
from . import densenet as _densenet
from . import inception as _inception
from . import mobilenet as _mobilenet
from . import resnet as _resnet
from . import squeezenet as _squeezenet
from . import vgg as _vgg
from ._parts import Classifier
from .alexnet import *  # noqa: F403
from .densenet import *  # noqa: F403
from .inception import *  # noqa: F403
from .mobilenet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .squeezenet import *  # noqa: F403
from .vgg import *  # noqa: F403

_FAMILIES = (_alexnet, _densenet, _inception, _mobilenet, _resnet, _squeezenet, _vgg)

__all__ = ["get_model", *(name for family in _FAMILIES for name in family.__all__)]

#: The functions by the names of files: ``mobilenetv2_0.5`` is made by ``mobilenet_v2_0_5``.
_MODELS = {
    name: globals()[re.sub(r"(?<=[a-z])v(?=\d)", "_v", name.replace(".", "_"))]
    for name in model_store._model_sha1
}


def get_model(name: str, **kwargs: Any) -> Classifier:
    """Return a network by its name, as in ``"resnet50_v1"`` or ``"mobilenetv2_0.5"``.

    The other arguments are those of its own function.

    >>> from afterglow.gluon.model_zoo import vision
    >>> vision.get_model("squeezenet1.1", classes=10).output[0]
    Conv2D(None -> 10, kernel_size=(1, 1), stride=(1, 1))
    """
    make = _MODELS.get(name.lower())
    if make is None:
        question = did_you_mean(name, _MODELS)
        raise ArrayValueError(
            f"[get_model] Model {name} is not supported; {question and f'{question} '}"
            f"Available options are {', '.join(_MODELS)}"
        )
    net: Classifier = make(**kwargs)
    return net
