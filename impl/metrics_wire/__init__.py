"""The metrics wire: from a training loop's calls to the curves that a Jobs service stores and a person sees.

The logger's side. `schedule`, `values` and `naming` decide what one observation is; `series` and `state` hold what was
observed; `client`, `appending`, `delivery` and `sender` bring it to the service without stalling the loop; `callback`
and `logger` are what a loop calls; `run` closes them whatever happens; `reporter`, `oversize` and `runner` write from
the process around the loop.

The other side. `service` is the Jobs service itself, with its page and the command ``jobs-service``.
"""
