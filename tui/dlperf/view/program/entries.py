"""The catalogue entries of a program, as YAML whose comments say what is a guess."""

import json
from collections.abc import Sequence
from pathlib import Path

from dlperf.view.program.command import Program, without_python
from dlperf.view.program.recognition import ProgramOutput
from dlperf.view.program.shipping import Shipment
from dlperf.view.text import one_line

TEMPLATE = Path(__file__).with_name("entries.yaml.jinja")
"""A catalogue file for a program."""
SKIP_STEPS, TAKE_STEPS = 20, 100
"""Of the campaign."""


def as_yaml(program: Program, output: ProgramOutput, device: str, shipment: Shipment | None) -> str:
    """Return a catalogue file with the entries that a campaign of the program needs."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["quoted"] = _quoted
    interpreter, command = without_python((program.path, *program.words[1:]))
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(
        program=program,
        output=output,
        example=one_line(output.example)[:110] if output.example else "",
        has_protocol=program.takes_steps or not output.is_single,
        skip_steps=SKIP_STEPS,
        take_steps=TAKE_STEPS,
        batch_size=(not program.takes_batch_size and output.logged_batch_size) or program.batch_size,
        device=device,
        shipment=shipment,
        interpreter=interpreter,
        command=command,
    )


def _quoted(value: str | Sequence[str]) -> str:
    """Return text or a list of texts as YAML in one line."""
    return json.dumps(value, ensure_ascii=False)
