"""Data of training stacks: made from a seed, equal everywhere, with something to learn."""

from __future__ import annotations

import importlib.util
import json
import struct
import subprocess
import sys
from array import array

from interpreters import WORKLOADS

PROGRAM = WORKLOADS / "make_data.py"


def make(folder, *options):
    command = [sys.executable, PROGRAM, options[0], "data", *options[1:]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def test_equal_options_make_equal_text_whose_words_are_its_tokens(tmp_path):
    hashes = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        hashes.append(make(tmp_path / name, "text", "--vocabulary", "500", "--words", "5000", "--seed", seed))
    assert hashes[0] == hashes[1] == (tmp_path / "a" / "data" / "data.sha256").read_text().strip()
    assert hashes[2] != hashes[0]
    assert (tmp_path / "a" / "facts").read_text() == f"data text {hashes[0]}\n"
    data = tmp_path / "a" / "data"
    tokens = array("I", (data / "tokens.bin").read_bytes())
    vocabulary = json.loads((data / "tokenizer" / "tokenizer.json").read_text())["model"]["vocab"]
    assert len(vocabulary) == 500
    documents = [json.loads(line)["text"].split() for line in (data / "text" / "data.json").open()]
    assert [vocabulary[word] for words in documents for word in words] == list(tokens)
    # with the tokens that begin and end one, whole documents fill a sequence of 512, 1024, … 8192
    assert {512 % (len(words) + 2) for words in documents[:-1]} == {0}


def test_every_second_word_follows_from_the_one_before(tmp_path):
    make(tmp_path, "text", "--vocabulary", "500", "--words", "4000")
    tokens = array("I", (tmp_path / "data" / "tokens.bin").read_bytes())
    assert all(after == (before + 1) * 7 % 497 for before, after in zip(tokens[::2], tokens[1::2], strict=True))


def test_a_shard_holds_the_same_tokens_behind_a_header(tmp_path):
    make(tmp_path, "text", "--vocabulary", "500", "--words", "4000", "--shard")
    shard = (tmp_path / "data" / "train.bin").read_bytes()
    assert struct.unpack("<4i", shard[:16]) == (278895051, 1, 4000, 4)
    assert shard[1024:] == (tmp_path / "data" / "tokens.bin").read_bytes()


def test_images_are_folders_of_classes_and_the_same_records(tmp_path):
    make(tmp_path, "images", "--classes", "3", "--images", "2", "--side", "32")
    images = sorted((tmp_path / "data" / "images" / "train").rglob("*.png"))
    assert [image.parent.name for image in images] == [f"class{number:03d}" for number in (0, 0, 1, 1, 2, 2)]
    assert struct.unpack(">II", images[0].read_bytes()[16:24]) == (32, 32)
    records = (tmp_path / "data" / "tfrecord" / "train-00000-of-00001").read_bytes()
    (length,) = struct.unpack("<Q", records[:8])
    assert images[0].read_bytes() in records[12 : 12 + length]


def test_images_have_as_many_names_as_steps_need(tmp_path):
    make(tmp_path, "images", "--classes", "3", "--images", "2", "--side", "8", "--entries", "20")
    images = list((tmp_path / "data" / "images" / "train").rglob("*.png"))
    assert len(images) == 20
    assert len({image.stat().st_ino for image in images}) == 6


def test_a_model_names_its_vocabulary(tmp_path):
    make(tmp_path, "text", "--model", "llama3-tiny", "--words", "2000")
    assert max(array("I", (tmp_path / "data" / "tokens.bin").read_bytes())) < 512


def test_records_carry_masked_crc32c():
    """The check value of CRC-32C is in RFC 3720, B.4: 0xE3069283 of the digits 1 to 9."""
    spec = importlib.util.spec_from_file_location("tfrecords", WORKLOADS / "tfrecords.py")
    tfrecords = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tfrecords)
    crc = 0xE3069283
    assert tfrecords.masked_crc(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
