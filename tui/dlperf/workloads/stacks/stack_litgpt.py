"""Data of ``litgpt pretrain`` made by make_data.py: ``--data stack_litgpt.MadeTokens --data.tokens FILE``.

LitGPT's own modules download their data, and take a module of one's own by the name of its class. Needs litgpt and, in
the same folder, stack_tokens.py.
"""

from dataclasses import dataclass, field
from pathlib import Path

from litgpt.data import DataModule
from stack_tokens import Tokens
from torch.utils.data import DataLoader


class Sequences(Tokens):
    """One token more than a sequence has, of which LitGPT takes inputs and targets."""

    def __getitem__(self, number):
        return super().__getitem__(number)["input_ids"]


@dataclass
class MadeTokens(DataModule):
    tokens: Path
    batch_size: int = field(init=False, default=1)
    length: int = field(init=False, default=1)

    def __post_init__(self):
        super().__init__()

    def connect(self, tokenizer=None, batch_size=1, max_seq_length=None, **others):
        self.batch_size, self.length = batch_size, max_seq_length + 1

    def train_dataloader(self):
        return self._loader(1 << 20)

    def val_dataloader(self):
        return self._loader(2 * self.batch_size)

    def _loader(self, count):
        return DataLoader(Sequences(self.tokens, self.length, count), batch_size=self.batch_size, pin_memory=True)
