"""The fp32 LM head in real vLLM: one switch, three strategies, and refits that leave the head right.

Import the module that is needed; this package itself loads nothing, so that the plugin costs nothing where it is off.
"""
