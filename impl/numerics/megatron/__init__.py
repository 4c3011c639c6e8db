"""Megatron-Core as the trainer: its fp32 LM head, and tiny models on CPU that show it on the real thing.

`impl.numerics.megatron.head` needs only torch and a built model; the other modules start models and import
megatron-core where they do.
"""
