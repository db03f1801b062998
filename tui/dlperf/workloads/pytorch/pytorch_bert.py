"""BERT-base pre-training in PyTorch on synthetic sentences: ``python pytorch_bert.py --help``.

Masked-token and next-sentence prediction over sequences of 128 tokens (Devlin et al. 2018, phase 1), AdamW. A sentence
counts upwards from a random word in random steps, so that a masked word can be inferred, but for a fifth that are
random; the second half continues counting or starts at another word. Needs PyTorch >= 2.4 and, in the same folder,
pytorch_trainer.py, pytorch_numerics.py, options.py and reporting.py.
"""

import itertools
import math

from options import PYTORCH_PRECISION_HELP, PYTORCH_PRECISIONS, WRONG, bert, common, pytorch


def options():
    return bert(pytorch(common(__doc__, PYTORCH_PRECISIONS, PYTORCH_PRECISION_HELP))).parse_args()


if __name__ == "__main__":
    OPTIONS = options()  # before the framework loads, see options.py

import torch
from pytorch_numerics import LOGITS, RESIDUAL, marked, rounded
from pytorch_trainer import DTYPES, Trainer, World, compiled, prepare, train
from torch import nn
from torch.nn import functional

VOCABULARY = 30528
"""30 522 words, padded to a multiple of 64 as NVIDIA's implementation does."""
HIDDEN, LAYERS, HEADS, POSITIONS = 768, 12, 12, 512
MASKED_SHARE = 0.15
"""Rounded up: 20 of 128, as BERT's own configuration of phase 1 predicts."""
MASK, FIRST_WORD, WORDS = 103, 1000, 2000


class Layer(nn.Module):
    """Self-attention and feed-forward, each with a residual and a layer normalization after it."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.attended = nn.Linear(HIDDEN, HIDDEN)
        self.norm1 = nn.LayerNorm(HIDDEN)
        self.wide = nn.Linear(HIDDEN, 4 * HIDDEN)
        self.narrow = nn.Linear(4 * HIDDEN, HIDDEN)
        self.norm2 = nn.LayerNorm(HIDDEN)

    def forward(self, x):
        count, length, _ = x.shape
        heads = self.project(x).view(count, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(count, length, HIDDEN)
        x = rounded(self.norm1(x + self.attended(y)))
        return marked(rounded(self.norm2(x + self.narrow(functional.gelu(self.wide(x))))), RESIDUAL)


class Bert(nn.Module):
    """Encoder, its two heads and the sum of their losses."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.segments = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)
        self.layers = nn.Sequential(*[Layer() for _ in range(LAYERS)])
        self.pooler = nn.Linear(HIDDEN, HIDDEN)
        self.next_sentence = nn.Linear(HIDDEN, 2)
        self.transform = nn.Linear(HIDDEN, HIDDEN)
        self.transform_norm = nn.LayerNorm(HIDDEN)
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))

    def forward(self, tokens, segments, masked_positions, masked_words, follows):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.positions(places) + self.segments(segments))
        x = self.layers(rounded(x))
        chosen = x.gather(1, masked_positions.unsqueeze(-1).expand(-1, -1, HIDDEN))
        chosen = self.transform_norm(functional.gelu(self.transform(chosen)))
        logits = marked(functional.linear(chosen, self.words.weight, self.bias), LOGITS).float()
        related = self.next_sentence(torch.tanh(self.pooler(x[:, 0]))).float()
        word_loss = functional.cross_entropy(logits.flatten(0, 1), masked_words.flatten())
        return word_loss + functional.cross_entropy(related, follows)


def initialize(model):
    """Initialize weights as normal with deviation 0.02 and biases as zero, like BERT's code."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)


def synthetic_batches(world, options):
    """Endless batches: tokens, segments, masked positions, masked words, whether the second half follows the first."""
    device, count, length = world.device, options.batch_size, options.sequence_length
    generator = torch.Generator(device).manual_seed(options.seed + 1 + world.rank)
    masked = math.ceil(MASKED_SHARE * length)

    def draw(high, *shape):
        return torch.randint(high, shape, generator=generator, device=device)

    batches = []
    for _ in range(options.batches):
        follows = draw(2, count)
        places = torch.arange(length, device=device)
        second = places >= length // 2
        start, stride, jump = draw(WORDS, count, 1), 1 + draw(4, count, 1), draw(WORDS, count, 1)
        words = FIRST_WORD + (start + stride * places + jump * second * (1 - follows).unsqueeze(1)) % WORDS
        order = torch.rand(count, length, generator=generator, device=device).argsort(1)[:, :masked]
        tokens = words.scatter(1, order, MASK)
        wrong = torch.rand(order.shape, generator=generator, device=device) < WRONG
        hidden = torch.where(wrong, draw(VOCABULARY, *order.shape), words.gather(1, order))
        batches.append((tokens, second.long().expand(count, -1).contiguous(), order, hidden, follows))
    return itertools.cycle(batches)


def main(options):
    prepare(options)
    world = World()
    model = Bert()
    initialize(model)
    model = model.to(world.device, DTYPES[options.precision])
    cuda = world.device.type == "cuda"
    settings = {"lr": options.learning_rate, "eps": 1e-4 if options.precision == "fp16-pure" else 1e-6}
    optimizer = torch.optim.AdamW(model.parameters(), **settings, fused=cuda, capturable=cuda)
    trainer = Trainer(world, compiled(model, options), list(model.parameters()), optimizer, options)
    train(world, trainer, synthetic_batches(world, options), options, model="bert-base")


if __name__ == "__main__":
    main(OPTIONS)
