"""The tokens that make_data.py made, for stacks that are started by a script of ours: torch tensors of one length.

Copied to the node with the program that uses it. Needs PyTorch and NumPy.
"""

import numpy as np
import torch


class Tokens(torch.utils.data.Dataset):
    """Sequences one after the other, from the start again where the file ends; inputs are the labels, too.

    Trainers of language models shift the labels themselves; ``shifted`` gives (inputs, following tokens) instead.
    """

    def __init__(self, path, length, count, shifted=False):
        self.tokens = np.fromfile(path, dtype="<u4").astype(np.int64)
        self.length, self.count, self.shifted = length, count, shifted
        self.size = length + shifted
        if len(self.tokens) < self.size:
            self.tokens = np.resize(self.tokens, self.size)

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        start = number * self.length % (len(self.tokens) - self.size + 1)
        tokens = torch.from_numpy(self.tokens[start : start + self.size])
        if self.shifted:
            return tokens[:-1], tokens[1:]
        return {"input_ids": tokens, "labels": tokens}
