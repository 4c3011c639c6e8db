"""The fp32 LM head on both sides of the seam: trainer head, rollout head under refit, metrics, configuration.

Import the module that is needed; this package itself loads nothing, so that a configuration can be
validated on a machine that has no torch.
"""
