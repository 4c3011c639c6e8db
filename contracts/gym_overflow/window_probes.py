"""The probes of the window that bite.

A prompt that fits together with an output limit that does not is no such probe: servers that clamp answer it 200.
"""

from contracts.gym_overflow.probe import Probe

#: The prompt fills the window exactly.
FULL = Probe(offset=0)
#: The prompt is one token longer than the window.
ONE_OVER = Probe(offset=1)
#: The prompt leaves room for exactly one token.
ROOM_FOR_ONE = Probe(offset=-1)
#: The prompt leaves room for a short answer.
SHORT = Probe(offset=-4)
