"""The options that the training programs share.

Standard library only, Python >= 3.6: a program parses its command line before it loads its framework, so that
``--help`` and errors appear at once, also where the framework is missing. Copied to the node with the programs.
"""

import argparse
import sys

LABELS, WRONG = 16, 0.2
"""Labels that a synthetic image has in turn, and the share of them, and of the words to predict, that is drawn at
random: a network that has learned the rest still has a loss above 0.7, so that gradients stay, and with them the power
that a step takes."""
TEXT_BATCHES = 512
"""Different batches of text. Of eight, GPT-2 124M had begun to learn by heart after 160 steps: its loss was below the
3.9 that the random half of the tokens allows."""
LEARNING_RATES = {"resnet50": 0.002, "vgg16": 0.001}
"""Constant, without the warm-up of a full training: low enough that the first forty steps learn at any batch size."""

PYTORCH_PRECISIONS = ("fp32", "tf32", "amp", "bf16", "bf16-pure", "fp16-pure")
PYTORCH_PRECISION_HELP = "amp: autocast to fp16 with loss scaling; bf16: autocast; -pure: weights too"
JAX_PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
JAX_PRECISION_HELP = "of activations and products; weights are fp32"


def basic(description):
    """Parser with the options of every program; the first line of the description is shown."""
    parser = argparse.ArgumentParser(
        description=description.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--batch-size", type=positive, default=32, help="samples per GPU and step")
    parser.add_argument("--steps", type=positive, default=120, help="steps to train after the compiler's warm-up")
    parser.add_argument(
        "--seconds", type=int, default=0, help="least time to train, in more steps where they are faster"
    )
    parser.add_argument("--log-interval", type=positive, default=10, help="steps per log line")
    parser.add_argument("--seed", type=int, default=0, help="of data and weights")
    return parser


def common(description, precisions, precision_help):
    """Parser with the options of every program of a framework."""
    parser = basic(description)
    parser.add_argument("--precision", choices=precisions, default="fp32", help=precision_help)
    parser.add_argument("--batches", type=positive, default=8, help="different synthetic batches, kept on the device")
    parser.add_argument(
        "--stock", action="store_true", help="as the framework's documentation shows: no kernel or gradient of our own"
    )
    return parser


def profilable(parser):
    """Add the option of the programs that can profile themselves."""
    parser.add_argument("--profile", metavar="FILE", help="after the run, profile five steps and write a summary")
    return parser


def vision(description, precisions, precision_help, data_help):
    """Parser with the options of the programs for ResNet-50 and VGG16; ``finished`` completes the result."""
    parser = common(description, precisions, precision_help)
    parser.add_argument("--model", choices=sorted(LEARNING_RATES), default="resnet50")
    parser.add_argument("--learning-rate", type=float, help="the model's own if absent")
    parser.add_argument("--image-size", type=positive, default=224)
    parser.add_argument("--data", metavar="DIR", help=data_help + "; synthetic images if absent")
    parser.add_argument("--workers", type=positive, default=8, help="threads that decode images, per process")
    return parser


def pytorch(parser):
    """Add the options of the PyTorch programs to a parser."""
    parser.add_argument(
        "--compile", choices=["none", "default", "max-autotune"], default="none", help="torch.compile mode"
    )
    parser.add_argument(
        "--inductor", nargs="*", default=[], metavar="KEY=JSON", help="settings of torch._inductor.config"
    )
    parser.add_argument("--cuda-graph", action="store_true", help="replay forward and backward as one CUDA graph")
    return profilable(parser)


def finished(options):
    """Set the learning rate of the model where none was given."""
    if options.learning_rate is None:
        options.learning_rate = LEARNING_RATES[options.model]
    return options


def bert(parser):
    """Add the options of the programs for BERT to a parser.

    There is no warm-up of the learning rate: at 1e-4, six of ten trials in PyTorch and JAX had learned nothing after
    1,000 steps on an H100; at 5e-5, all of four in PyTorch had learned.
    """
    parser.set_defaults(batches=TEXT_BATCHES)
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--sequence-length", type=positive, default=128)
    return parser


def arcface(parser):
    """Add the options of the programs for ArcFace to a parser."""
    parser.add_argument("--learning-rate", type=float, default=0.0005)
    parser.add_argument("--image-size", type=positive, default=112)
    parser.add_argument("--classes", type=positive, default=85742)
    return parser


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more, not " + text)
    return number


def refuse(option, reason):
    """End the program because of a wrong option, as argparse does: one line, exit code 2."""
    print(f"{option}: {reason}", file=sys.stderr)
    sys.exit(2)
