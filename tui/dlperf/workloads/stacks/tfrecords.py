"""Write TFRecord files without TensorFlow: tf.train.Example messages in records with masked CRC-32C.

The layout is that of tensorflow/core/lib/io/record_writer.h and example.proto. Standard library only, Python >= 3.8.
"""

import struct

POLYNOMIAL = 0x82F63B78
"""Castagnoli's, reflected."""
MASK_DELTA = 0xA282EAD8


def _table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ POLYNOMIAL * (value & 1)
        yield value


TABLE = tuple(_table())


def image_record(encoded, label):
    """One record: ``image/encoded`` and ``image/class/label``, as the records of ImageNet name them."""
    features = {"image/encoded": field(1, field(1, encoded)), "image/class/label": field(3, field(1, varint(label)))}
    # a map is a list of entries of key and value
    entries = b"".join(field(1, field(1, name.encode()) + field(2, value)) for name, value in features.items())
    return record(field(1, entries))


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def field(number, data):
    """A field of bytes, of a message or of packed numbers."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(number):
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes(parts + bytes([number]))
