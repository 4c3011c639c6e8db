"""The endpoint behind the protocol of ``gym_overflow.endpoint``."""

from acme_endpoint import app

from contracts.http import AsgiAdapter


def adapter() -> AsgiAdapter:
    """What ``contracts run gym_overflow.endpoint --adapter acme_contract:adapter`` calls."""
    return AsgiAdapter(app, name="acme endpoint", version="0.1")
