"""Real images for pytorch_vision.py, decoded by DALI on the GPU where it is installed, else on the CPU.

Copied to the node beside it, with image_data.py.
"""

import image_data
import torch


def real_images(world, options, dtype):
    """Facts for the log, and an endless iterator of (images, labels) on the device, normalized, channels last."""
    place = (options, options.batch_size, world.rank, world.size)
    if world.device.type == "cuda" and image_data.has_dali():
        facts, batches = _decoded_on_gpu(world.device.index, *place)
    else:
        facts, batches = image_data.host_batches(*place)
        batches = _pinned(batches) if world.device.type == "cuda" else _tensors(batches)
    return facts, _normalized(batches, world.device, dtype)


def _decoded_on_gpu(gpu, options, count, shard, shards):
    from nvidia.dali import __version__ as version
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    source = image_data.find(options.data)
    pipeline, images = image_data.dali_pipeline(source, options, count, shard, shards, gpu)
    iterator = DALIGenericIterator([pipeline], ["images", "labels"], size=-1)  # without end; tensors are its own copies
    batches = ((parts[0]["images"], parts[0]["labels"].flatten()) for parts in iterator)
    return {"data": source.kind, "images": images, "loader": f"DALI {version} on the GPU"}, batches


def _tensors(batches):
    for images, labels in batches:
        yield torch.from_numpy(images), torch.from_numpy(labels)


def _pinned(batches):
    """In memory from which a copy to the device runs beside the computation."""
    for images, labels in _tensors(batches):
        yield images.pin_memory(), labels.pin_memory()


def _normalized(batches, device, dtype):
    mean, deviation = (
        torch.tensor(values, device=device).view(1, 3, 1, 1) for values in (image_data.MEAN, image_data.DEVIATION)
    )
    for images, labels in batches:
        pixels = images.to(device, non_blocking=True).permute(0, 3, 1, 2)
        pixels = ((pixels - mean) / deviation).to(dtype, memory_format=torch.channels_last)
        yield pixels, labels.to(device, torch.int64, non_blocking=True)
