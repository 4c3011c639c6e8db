"""``python -m impl.metrics_wire.service`` is the command `jobs-service`."""

from impl.metrics_wire.service.cli import main

if __name__ == "__main__":
    main()
