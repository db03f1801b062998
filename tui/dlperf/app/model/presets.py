"""Whole reports to start from."""

from __future__ import annotations

from dataclasses import dataclass, field

from dlperf.app.model.choice import Choice
from dlperf.messages import N_


@dataclass(frozen=True)
class Preset:
    """Marks that stand for a report. Where it names no hardware, the marks there stay."""

    name: str
    about: str
    marked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: int | None = None
    protocol: str | None = None

    def applied(self, before: Choice) -> Choice:
        """The choice that the preset makes of another."""
        kept = {} if "hardware" in self.marked else {"hardware": before.values("hardware")}
        return Choice(kept | self.marked, self.repeats, self.protocol)


PRESETS = (
    Preset(
        "quickstart",
        N_("LeNet-5 with NumPy on this machine, in a minute"),
        {
            "hardware": ("local",),
            "frameworks": ("numpy",),
            "cases": ("lenet5",),
            "precisions": ("fp32",),
            "batch_sizes": ("64", "128"),
            "scales": ("1n1g",),
        },
        repeats=3,
    ),
    Preset(
        "ResNet50 V1.5",
        N_("The report of PaddlePaddle/Perf: Paddle, TensorFlow, PyTorch and MXNet, FP32 and AMP, 1, 8 and 32 GPUs"),
        {
            "frameworks": ("paddleclas", "ngc-tensorflow", "ngc-pytorch", "ngc-mxnet"),
            "cases": ("resnet50",),
            "precisions": ("fp32", "amp"),
            "batch_sizes": ("128", "256"),
            "scales": ("1n1g", "1n8g", "4n8g"),
        },
    ),
    Preset(
        "PLSC ArcFace",
        N_("The report of DLPerf: face recognition with split classes, FP32, 128 samples per GPU"),
        {
            "frameworks": ("plsc",),
            "cases": ("arcface",),
            "precisions": ("fp32",),
            "batch_sizes": ("128",),
            "scales": ("1n1g", "1n8g", "4n8g"),
        },
        protocol="plsc",
    ),
    Preset(
        "VGG16",
        N_("The baseline of FleetX: FP32, AMP and automatic strategy"),
        {
            "frameworks": ("fleetx-fp32", "fleetx-amp", "fleetx-auto"),
            "cases": ("vgg16",),
            "precisions": ("fp32", "amp"),
            "scales": ("1n1g", "1n8g", "2n8g", "4n8g"),
        },
        protocol="fleetx",
    ),
)
