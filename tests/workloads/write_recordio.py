"""The JPEG files of a folder of classes as one RecordIO file with its index; started by test_real_images.py."""

import pathlib
import sys

from mxnet import recordio

source, target = map(pathlib.Path, sys.argv[1:])
writer = recordio.MXIndexedRecordIO(str(target / "train.idx"), str(target / "train.rec"), "w")
number = 0
for label, folder in enumerate(sorted(source.iterdir())):
    for path in sorted(folder.iterdir()):
        writer.write_idx(number, recordio.pack(recordio.IRHeader(0, float(label), number, 0), path.read_bytes()))
        number += 1
writer.close()
