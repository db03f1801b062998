"""Training on JPEG files, TFRecord and RecordIO: images and labels stay together, and the log says what was read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreters import SMALL, WORKLOADS, interpreter, run, trains
from PIL import Image
from test_programs import parsed

pytestmark = trains
HERE = Path(__file__).parent
IMAGES_IN_ALL = 16
STEPS = ["--batch-size", "8", "--image-size", "32", "--steps", "8", "--log-interval", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of eight JPEG files each, of various sizes: the first is red, the second blue."""
    folder = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(0)
    for label, name in enumerate(("n01", "n02")):
        (folder / name).mkdir()
        for number in range(IMAGES_IN_ALL // 2):
            pixels = random.integers(0, 80, (40 + number, 60 - number, 3), np.uint8)
            pixels[..., 2 * label] += 150
            Image.fromarray(pixels).save(folder / name / f"{number}.JPEG", quality=95)
    return folder


@pytest.fixture(scope="module")
def tfrecords(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written("tensorflow", "write_tfrecords.py", folder, tmp_path_factory.mktemp("tfrecords"))


@pytest.fixture(scope="module")
def recordio(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written("mxnet", "write_recordio.py", folder, tmp_path_factory.mktemp("recordio"))


def written(module: str, program: str, source: Path, target: Path) -> Path:
    done = run(interpreter(module), HERE / program, source, target)
    assert done.returncode == 0, done.stderr
    return target


def read(python: str, source: Path, shard: int = 0, shards: int = 1) -> dict[str, Any]:
    done = run(python, HERE / "read_images.py", source, str(shard), str(shards), PYTHONPATH=str(WORKLOADS))
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def assert_labels_belong_to_their_images(outcome: dict[str, Any]) -> None:
    assert {label for label, _ in outcome["seen"]} == {0, 1}
    for label, (red, _, blue) in outcome["seen"]:
        assert (blue > red + 100) if label else (red > blue + 100)


@pytest.mark.parametrize("shards", [1, 2])
def test_pillow_gives_every_shard_its_part_of_a_folder(folder: Path, shards: int):
    outcome = read(sys.executable, folder, shards - 1, shards)
    assert_labels_belong_to_their_images(outcome)
    assert outcome["facts"]["loader"].startswith("Pillow ")
    assert {name: outcome["facts"][name] for name in ("data", "images")} == {"data": "folder", "images": IMAGES_IN_ALL}


@pytest.mark.parametrize("kind", ["folder", "tfrecord", "recordio"])
def test_dali_reads_whatever_lies_there(kind: str, request: pytest.FixtureRequest):
    python = interpreter("nvidia.dali")
    fixture = {"folder": "folder", "tfrecord": "tfrecords", "recordio": "recordio"}[kind]
    outcome = read(python, request.getfixturevalue(fixture))
    assert_labels_belong_to_their_images(outcome)
    assert outcome["facts"]["loader"].startswith("DALI ")
    assert {name: outcome["facts"][name] for name in ("data", "images")} == {"data": kind, "images": IMAGES_IN_ALL}


@pytest.mark.parametrize(
    ("module", "program", "kind", "loader"),
    [
        ("torch", "pytorch_vision.py", "folder", "Pillow "),
        ("jax", "jax_vision.py", "folder", "Pillow "),
        ("paddle", "paddle_vision.py", "folder", "Pillow "),
        ("tensorflow", "tensorflow_vision.py", "tfrecord", "tf.data"),
        ("tensorflow", "tensorflow_vision.py", "folder", "tf.data"),
        ("mxnet", "mxnet_vision.py", "recordio", "MXNet ImageRecordIter"),
        ("nvidia.dali", "pytorch_vision.py", "tfrecord", "DALI "),
    ],
)
def test_a_program_learns_from_real_images_and_its_log_says_so(
    module: str, program: str, kind: str, loader: str, request: pytest.FixtureRequest
):
    python = interpreter(module)
    if loader == "Pillow " and run(python, "-c", "import PIL").returncode:
        pytest.skip(f"{python} has no Pillow")
    source = request.getfixturevalue({"folder": "folder", "tfrecord": "tfrecords", "recordio": "recordio"}[kind])
    vgg = ["--model", "vgg16", "--learning-rate", "0.02"]  # ResNet-50 learns from synthetic ones in test_programs.py
    words = {"tensorflow": ["--no-xla"], "mxnet": []}.get(module, vgg)
    done = run(python, SMALL, WORKLOADS / program, *STEPS, *words, "--workers", "2", "--data", source)
    assert done.returncode == 0, done.stderr
    (trained,) = parsed(done.stdout)
    assert trained.complete
    stated = trained.metadata.arguments
    assert (stated["data"], stated["images"]) == (kind, str(IMAGES_IN_ALL))
    assert stated["loader"].startswith(loader)
    assert set(trained.samples.epoch) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ([], "holds neither folders of JPEG images, one for each class, nor .tfrecord nor .rec files"),
        (["train-00000-of-00001"], "tfrecord files need NVIDIA DALI: install nvidia-dali-cuda120"),
        (["a/1.jpg", "a/2.jpg", "b/1.JPEG"], "holds 3 images, fewer than one batch of 4 over all ranks"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, files: list[str], problem: str):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    done = run(sys.executable, HERE / "read_images.py", tmp_path, "0", "1", PYTHONPATH=str(WORKLOADS))
    assert (done.returncode, done.stderr) == (2, f"--data {tmp_path}: {problem}\n")
