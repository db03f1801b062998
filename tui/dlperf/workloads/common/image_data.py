"""Endless batches of real images: an ImageNet folder, TFRecord or RecordIO files.

Decoded by NVIDIA DALI where it is installed, else (a folder only) by Pillow in threads. Every image is cropped at
random (8 to 100 % of its area, aspect 3:4 to 4:3), resized and mirrored at random, as in the training of ResNet-50.
Every shard reads its own part of the images, in an order that changes with the epoch.
Needs NumPy and, for a folder without DALI, Pillow; in the same folder, options.py. Copied to the node with the program
that uses it.
"""

import collections
import concurrent.futures
import io
import math
import os
import re
import struct
import tempfile

import numpy as np
from options import refuse

MEAN, DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
"""Of ImageNet's red, green and blue, in 0 … 255."""
FILE_NAMES = {"tfrecord": re.compile(r"\.tfrecords?$|^train-.*-of-"), "recordio": re.compile(r"\.rec$")}
IMAGE_NAMES = (".jpg", ".jpeg")
AHEAD = 3
"""Batches decoded in advance."""

Source = collections.namedtuple("Source", "kind folder files labels")
"""Data set in a folder: kind (``folder``, ``tfrecord`` or ``recordio``), files and, for a folder, their labels."""


def find(folder):
    """Return the data set of a folder; exit where there is none."""
    if not os.path.isdir(folder):
        refuse("--data " + folder, "is no folder")
    names = sorted(os.listdir(folder))
    for kind, pattern in FILE_NAMES.items():
        records = [os.path.join(folder, name) for name in names if pattern.search(name)]
        if records:
            return Source(kind, folder, records, None)
    files, labels = [], []
    for label, path in enumerate(filter(os.path.isdir, (os.path.join(folder, name) for name in names))):
        images = [entry.path for entry in os.scandir(path) if entry.name.lower().endswith(IMAGE_NAMES)]
        files += sorted(images)
        labels += [label] * len(images)
    if not files:
        problem = "holds neither folders of JPEG images, one for each class, nor .tfrecord nor .rec files"
        refuse("--data " + folder, problem)
    return Source("folder", folder, files, labels)


def host_batches(options, count, shard, shards):
    """Facts for the log, and endless batches decoded on the CPU: (count × size × size × 3 bytes, labels)."""
    source = find(options.data)
    if has_dali():
        from nvidia.dali import __version__ as version

        pipeline, images = dali_pipeline(source, options, count, shard, shards, None)
        return facts(source, images, f"DALI {version} on the CPU"), _dali_batches(pipeline)
    if source.kind != "folder":
        refuse("--data " + options.data, source.kind + " files need NVIDIA DALI: install nvidia-dali-cuda120")
    check_enough(options.data, len(source.files), count * shards)
    import PIL

    batches = _pillow_batches(source, options, count, shard, shards)
    return facts(source, len(source.files), "Pillow " + PIL.__version__ + " in threads"), batches


def facts(source, images, loader):
    return {"data": source.kind, "images": images, "loader": loader}


def check_enough(folder, images, needed):
    """Exit where the images do not fill one batch."""
    if images < needed:
        refuse("--data " + folder, f"holds {images} images, fewer than one batch of {needed} over all ranks")


def _pillow_batches(source, options, count, shard, shards):
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        ahead = collections.deque()
        for chosen, seeds in _order(len(source.files), count, shard, shards, options.seed):
            tasks = [
                pool.submit(_decoded, source.files[index], options.image_size, seed)
                for index, seed in zip(chosen, seeds)
            ]
            ahead.append((tasks, np.array([source.labels[index] for index in chosen], np.int64)))
            if len(ahead) > AHEAD:
                tasks, labels = ahead.popleft()
                yield np.stack([task.result() for task in tasks]), labels


def _order(images, count, shard, shards, seed):
    """Yield image numbers and their seeds for each batch of a shard; the remainder of an epoch is dropped."""
    epoch = 0
    while True:
        random = np.random.default_rng((seed, epoch))
        numbers = random.permutation(images)
        seeds = random.integers(2**31, size=images)
        for first in range(shard * count, images - images % (count * shards), count * shards):
            chosen = numbers[first : first + count]
            yield chosen, seeds[chosen]
        epoch += 1


def _decoded(path, size, seed):
    from PIL import Image

    random = np.random.default_rng(seed)
    with Image.open(path) as image:
        box = random_box(image.width, image.height, random)
        pixels = np.asarray(image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR, box=box))
    return pixels[:, ::-1] if random.random() < 0.5 else pixels


def random_box(width, height, random):
    """Random part of an image: left, top, right, bottom (Szegedy et al. 2014)."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        wide, high = math.sqrt(area * aspect), math.sqrt(area / aspect)
        if wide <= width and high <= height:
            left, top = random.uniform(0, width - wide), random.uniform(0, height - high)
            return left, top, left + wide, top + high
    side = min(width, height)
    return (width - side) / 2, (height - side) / 2, (width + side) / 2, (height + side) / 2


def has_dali():
    try:
        import nvidia.dali  # noqa: F401
    except ImportError:
        return False
    return True


def dali_pipeline(source, options, count, shard, shards, gpu):
    """Pipeline of bytes and labels, and the number of images; ``gpu``: index of the GPU that decodes, None: the CPU."""
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=count, num_threads=options.workers, device_id=gpu, seed=options.seed + shard)
    def pipeline():
        encoded, labels = _dali_reader(source, shard, shards)
        images = fn.decoders.image_random_crop(
            encoded,
            device="cpu" if gpu is None else "mixed",
            output_type=types.RGB,
            random_area=[0.08, 1.0],
            random_aspect_ratio=[3 / 4, 4 / 3],
        )
        images = fn.resize(images, resize_x=options.image_size, resize_y=options.image_size, antialias=False)
        return fn.flip(images, horizontal=fn.random.coin_flip()), labels if gpu is None else labels.gpu()

    built = pipeline()
    built.build()
    images = built.reader_meta("images")["epoch_size"]
    check_enough(source.folder, images, count * shards)
    return built, images


def _dali_reader(source, shard, shards):
    """Encoded images and their labels, 0 … 999."""
    from nvidia.dali import fn, tfrecord, types

    common = {"shard_id": shard, "num_shards": shards, "random_shuffle": True, "name": "images"}
    if source.kind == "folder":
        return fn.readers.file(files=source.files, labels=source.labels, **common)
    if source.kind == "recordio":
        indices = [os.path.splitext(path)[0] + ".idx" for path in source.files]
        encoded, labels = fn.readers.mxnet(path=source.files, index_path=indices, **common)
        return encoded, fn.cast(labels, dtype=types.INT32)
    features = {
        "image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "image/class/label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }
    read = fn.readers.tfrecord(
        path=source.files, index_path=_tfrecord_indices(source.files), features=features, **common
    )
    return read["image/encoded"], fn.cast(read["image/class/label"] - 1, dtype=types.INT32)


def _tfrecord_indices(paths):
    """Write the index files that DALI needs to a temporary folder."""
    folder = tempfile.mkdtemp(prefix="tfrecord-index-")
    indices = [os.path.join(folder, os.path.basename(path) + ".idx") for path in paths]
    for path, index in zip(paths, indices):
        with open(index, "w") as stream:
            stream.writelines(f"{offset} {length}\n" for offset, length in tfrecord_places(path))
    return indices


def tfrecord_places(path):
    """Yield offset and length of each record: 8 bytes of length, 4 of checksum, the data, 4 of checksum."""
    with open(path, "rb") as records:
        end = records.seek(0, io.SEEK_END)
        offset = 0
        while offset + 8 <= end:
            records.seek(offset)
            length = struct.unpack("<Q", records.read(8))[0] + 16
            yield offset, length
            offset += length


def _dali_batches(pipeline):
    while True:
        images, labels = pipeline.run()
        yield np.array(images.as_array()), np.array(labels.as_array()).reshape(-1).astype(np.int64)
