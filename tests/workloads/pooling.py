"""The pooling kernel against PyTorch's: values and gradients, equal inputs too; started by test_parallel.py.

Also as the training programs run it: channels last, behind a convolution, compiled.
"""

import torch
from pytorch_kernels import MaxPool
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
torch.backends.cudnn.allow_tf32 = False


def outcome(pool, values):
    """Values and gradients of a pool."""
    images = values.clone(memory_format=torch.channels_last).requires_grad_()
    pooled = pool(images)
    pooled.backward(torch.arange(pooled.numel(), dtype=torch.float32, device=DEVICE).view(pooled.shape))
    return pooled.detach(), images.grad


def weight_gradient(pool, images, backend=None):
    """Gradient of the weights of a convolution in front of a pool."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3), nn.ReLU(inplace=True), pool)
    model = model.to(DEVICE, memory_format=torch.channels_last)
    (torch.compile(model, backend=backend) if backend else model)(images).square().mean().backward()
    return model[0].weight.grad


for shape in ((2, 4, 8, 8), (1, 3, 7, 9), (2, 8, 5, 6), (1, 16, 1, 1), (1, 64, 6, 40)):
    for values in (torch.randn(shape, device=DEVICE), torch.randint(-2, 3, shape, device=DEVICE).float()):
        ours, theirs = (outcome(pool, values) for pool in (MaxPool(), nn.MaxPool2d(3, stride=2, padding=1)))
        torch.testing.assert_close(ours[0], theirs[0], rtol=0, atol=0)
        torch.testing.assert_close(ours[1], theirs[1])
size = 224 if DEVICE == "cuda" else 32
images = torch.randn(2, 3, size, size, device=DEVICE).to(memory_format=torch.channels_last)
expected = weight_gradient(nn.MaxPool2d(3, stride=2, padding=1), images)
compiled = weight_gradient(MaxPool(), images, "inductor" if DEVICE == "cuda" else "aot_eager")
torch.testing.assert_close(compiled, expected, rtol=1e-3, atol=1e-6)
