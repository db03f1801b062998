"""The first batches of a folder of images, as JSON; started by test_real_images.py.

    python read_images.py DIR SHARD SHARDS

Of each image: label, and the mean of each colour.
"""

import argparse
import itertools
import json
import sys

import image_data

folder, shard, shards = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = argparse.Namespace(data=folder, image_size=16, workers=2, seed=3)
facts, batches = image_data.host_batches(options, 4, shard, shards)
seen = []
for images, labels in itertools.islice(batches, 8):
    assert images.shape == (4, 16, 16, 3)
    assert (str(images.dtype), str(labels.dtype)) == ("uint8", "int64")
    seen += [
        (int(label), [float(mean) for mean in image.mean((0, 1))]) for image, label in zip(images, labels, strict=True)
    ]
print(json.dumps({"facts": facts, "seen": seen}))
