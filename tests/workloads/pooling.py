"""The pooling kernel against PyTorch's: values and gradients, equal inputs too; started by test_parallel.py."""

import torch
from pytorch_kernels import MaxPool
from torch import nn

torch.manual_seed(0)
for shape in ((2, 4, 8, 8), (1, 3, 7, 9), (2, 8, 5, 6), (1, 16, 1, 1)):
    for values in (torch.randn(shape), torch.randint(-2, 3, shape).float()):
        outcomes = []
        for pool in (MaxPool(), nn.MaxPool2d(3, stride=2, padding=1)):
            images = values.clone(memory_format=torch.channels_last).requires_grad_()
            pooled = pool(images)
            pooled.backward(torch.arange(pooled.numel(), dtype=torch.float32).view(pooled.shape))
            outcomes.append((pooled.detach(), images.grad))
        (ours, our_gradient), (theirs, their_gradient) = outcomes
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
        torch.testing.assert_close(our_gradient, their_gradient)
