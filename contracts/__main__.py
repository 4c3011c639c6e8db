"""``python -m contracts``."""

from contracts.cli import main

main()
