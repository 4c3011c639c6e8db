"""Serves the reference endpoint on this machine: `python -m impl.gym_overflow --port 8000 --window 4096`."""

from __future__ import annotations

import argparse

import uvicorn

from impl.gym_overflow.endpoint import DEFAULT_MODEL, DEFAULT_WINDOW, create_app


def main() -> None:
    """Read the command line and serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m impl.gym_overflow", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="port on 127.0.0.1 (default %(default)s; 0: any free)")
    parser.add_argument("--window", type=int, default=DEFAULT_WINDOW, help="tokens that prompt and output share")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="name of the served model")
    options = parser.parse_args()
    try:
        app = create_app(window=options.window, model=options.model)
    except ValueError as error:
        parser.error(str(error))
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="info")


if __name__ == "__main__":
    main()
