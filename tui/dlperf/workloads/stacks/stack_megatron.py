"""Start Megatron-Core's training loop on made tokens: ``python stack_megatron.py --tokens FILE <options of Megatron>``.

The release holds ``megatron.training`` and not ``pretrain_gpt.py``: this program names model, data and loss, which the
documentation of ``pretrain`` asks for. Options, layers, optimizer, sharding and log are the release's. Needs
megatron-core and, in the same folder, stack_tokens.py.
"""

from functools import partial

import torch
from megatron.core.enums import ModelType
from megatron.training import get_args, pretrain
from megatron.training.argument_utils import gpt_config_from_args, pretrain_cfg_container_from_args
from megatron.training.arguments import parse_and_validate_args
from stack_tokens import Tokens


def more_options(parser):
    parser.add_argument("--tokens", required=True, help="tokens.bin of make_data.py")
    return parser


def datasets(counts):
    """Sequences for training; none for validation and test."""
    args = get_args()
    return Tokens(args.tokens, args.seq_length, counts[0], shifted=True), None, None


datasets.is_distributed = True


def forward_step(data, model):
    tokens, labels = next(data)
    tokens, labels = tokens.cuda(non_blocking=True), labels.cuda(non_blocking=True)
    places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    return model(tokens, places, None, labels=labels), partial(loss_of, labels.numel())


def loss_of(count, losses):
    total = losses.float().sum()
    tokens = torch.tensor(count, dtype=torch.int, device=losses.device)
    return total, tokens, {"lm loss": torch.cat([total.detach().view(1), tokens.view(1)])}


def main():
    args = parse_and_validate_args(more_options)
    settings = pretrain_cfg_container_from_args(args, gpt_config_from_args(args))
    pretrain(settings, datasets, ModelType.encoder_or_decoder, forward_step)


if __name__ == "__main__":
    main()
