"""``python -m giantstep`` is the command ``giantstep``."""

from giantstep.cli.main import main

main()
