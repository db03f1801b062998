#!/usr/bin/env python3
"""Make the training data of stacks, so that none is downloaded: ``python make_data.py --help``.

``text``: a tokenizer (``tokenizer/tokenizer.json``), documents (``text/data.json``, one ``{"text": …}`` a line) and the
same documents as tokens (``tokens.bin``: 32 bit, little endian). A word of an even place is drawn with the frequency of
words in a text (Zipf); one of an odd place follows from the word before by a fixed rule, as in dlperf's own programs,
so that both can be learned.
``images``: ``images/train`` and ``images/val`` with a folder of PNG files for each class, and the same images as
TFRecord files in ``tfrecord``. Each class has a pattern of its own, each image is that pattern under noise.

Equal options make equal texts and pixels; the hash of all files is printed last and lies in ``data.sha256`` (that of
images depends on the version of zlib, too) and, as a fact of a build, in ``facts``. Standard library only, for images
with tfrecords.py in the same folder; Python >= 3.8.
"""

import argparse
import hashlib
import json
import os
import random
import struct
import sys
import zlib
from array import array

DOCUMENT_WORDS = 510
"""512 tokens with those that begin and end a document: trainers that pack whole documents fill their sequences."""
LLAMA_3 = 128256
VOCABULARIES = {"llama3-tiny": 512, "qwen3-0.6b": 151936, "qwen3-30b-a3b-4l": 151936}
SPECIAL = ("<|begin_of_text|>", "<|end_of_text|>", "<|unknown|>")
"""The last words of the vocabulary."""
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou"]
CELLS = 8
"""Cells of equal colour along each side of an image."""
NOISE = 48
"""Highest change of a cell's colour, of 255."""
HASH = "data.sha256"
SHARD = (278895051, 1)
"""How a shard begins, by nemo_automodel/components/datasets/llm/nanogpt_dataset.py: magic number and version."""


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["text", "images"])
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default="", help="whose vocabulary is used, where it is not that of Llama 3")
    parser.add_argument(
        "--vocabulary", type=int, help="words of the tokenizer, with 3 special ones; the model's if absent"
    )
    parser.add_argument("--words", type=int, default=2**20, help="of all documents")
    parser.add_argument("--shard", action="store_true", help="also write train.bin, a shard of modded-nanogpt")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--images", type=int, default=64, help="of each class; an eighth more for validation")
    parser.add_argument(
        "--entries", type=int, default=0, help="files for training, by further names of the same images"
    )
    parser.add_argument("--side", type=int, default=256, help="of an image in pixels, a multiple of 8")
    return parser.parse_args()


def main():
    given = options()
    # only random(): the other methods of Random may differ between versions of Python
    draw = random.Random(given.seed).random
    if given.kind == "text":
        make_text(given, draw)
    else:
        make_images(given, draw)
    digest = tree_hash(given.folder)
    write(os.path.join(given.folder, HASH), (digest + "\n").encode())
    with open("facts", "a", encoding="utf-8") as facts:
        facts.write(f"data {given.kind} {digest}\n")
    print(f"data {given.kind} {digest}", flush=True)


def word(number):
    """A made-up word: the digits of its number as syllables."""
    text = SYLLABLES[number % 100]
    while number >= 100:
        number = number // 100 - 1
        text = SYLLABLES[number % 100] + text
    return text


def make_text(given, draw):
    vocabulary = given.vocabulary or VOCABULARIES.get(given.model, LLAMA_3)
    usable = vocabulary - len(SPECIAL)
    if usable < 2:
        sys.exit(f"make_data.py: --vocabulary {vocabulary}: must be {2 + len(SPECIAL)} or more")
    words = [word(number) for number in range(usable)]
    tokens = array("I")
    for _ in range(0, given.words, 2):
        drawn = int(usable ** draw()) - 1
        tokens.extend((drawn, (drawn + 1) * 7 % usable))
    documents = (tokens[start : start + DOCUMENT_WORDS] for start in range(0, len(tokens), DOCUMENT_WORDS))
    lines = (json.dumps({"text": " ".join(words[token] for token in each)}) + "\n" for each in documents)
    write(os.path.join(given.folder, "text", "data.json"), "".join(lines).encode())
    if sys.byteorder == "big":
        tokens.byteswap()
    write(os.path.join(given.folder, "tokens.bin"), tokens.tobytes())
    if given.shard:
        header = struct.pack("<256i", *SHARD, len(tokens), tokens.itemsize, *(0 for _ in range(252)))
        write(os.path.join(given.folder, "train.bin"), header + tokens.tobytes())
    for name, content in tokenizer(words).items():
        write(os.path.join(given.folder, "tokenizer", name), json.dumps(content).encode())


def tokenizer(words):
    """The files of a tokenizer that gives each word its number, as the package tokenizers reads them."""
    special = {text: len(words) + place for place, text in enumerate(SPECIAL)}
    begin, end, unknown = SPECIAL
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    vocabulary = {text: number for number, text in enumerate(words)}
    return {
        "tokenizer.json": {
            "version": "1.0",
            "added_tokens": [dict(plain, id=number, content=text) for text, number in special.items()],
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "model": {"type": "WordLevel", "vocab": dict(vocabulary, **special), "unk_token": unknown},
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": begin,
            "eos_token": end,
            "unk_token": unknown,
            "model_max_length": 1 << 30,
        },
    }


def make_images(given, draw):
    from tfrecords import image_record

    if given.side % CELLS or given.side < CELLS:
        sys.exit(f"make_data.py: --side {given.side}: must be a multiple of {CELLS}")
    patterns = [[255 * draw() for _ in range(3 * CELLS * CELLS)] for _ in range(given.classes)]
    for part, count in (("train", given.images), ("val", max(1, given.images // 8))):
        records = []
        for place in range(count):
            for label, pattern in enumerate(patterns):
                cells = [min(255, max(0, int(value + NOISE * (2 * draw() - 1)))) for value in pattern]
                data = png(cells, given.side)
                write(os.path.join(given.folder, "images", part, f"class{label:03d}", f"{place:05d}.png"), data)
                records.append(image_record(data, label + 1))
        write(os.path.join(given.folder, "tfrecord", part + "-00000-of-00001"), b"".join(records))
    repeat_images(given)


def repeat_images(given):
    """Give images further names, until a program that counts files finds as many as its steps need."""
    folder = os.path.join(given.folder, "images", "train")
    names = sorted(
        os.path.join(part, name) for part in os.listdir(folder) for name in os.listdir(os.path.join(folder, part))
    )
    for number in range(len(names), given.entries):
        source = os.path.join(folder, names[number % len(names)])
        os.link(source, f"{source[:-4]}-{number // len(names)}.png")


def png(cells, side):
    """A square image of CELLS × CELLS colours."""
    width = side // CELLS
    rows = []
    for start in range(0, len(cells), 3 * CELLS):
        row = b"".join(bytes(cells[at : at + 3]) * width for at in range(start, start + 3 * CELLS, 3))
        rows += [b"\0" + row] * width
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"".join(rows), 9))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def tree_hash(folder):
    """SHA-256 over the paths and contents of all files below a folder."""
    found = hashlib.sha256()
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name != HASH]
    for path in sorted(paths):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        found.update(f"{os.path.relpath(path, folder)} {digest}\n".encode())
    return found.hexdigest()


if __name__ == "__main__":
    main()
