"""The JPEG files of a folder of classes as TFRecord files, labels from 1; started by test_real_images.py."""

import pathlib
import sys

import tensorflow as tf

source, target = map(pathlib.Path, sys.argv[1:])
for label, folder in enumerate(sorted(source.iterdir()), start=1):
    with tf.io.TFRecordWriter(str(target / f"train-{label - 1:05d}-of-00002")) as writer:
        for path in sorted(folder.iterdir()):
            features = {
                "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[path.read_bytes()])),
                "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
