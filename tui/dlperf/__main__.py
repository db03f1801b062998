"""``python -m dlperf`` is ``dlperf``."""

from dlperf.cli import main

main()
