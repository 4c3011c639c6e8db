"""The logger's side of the metrics wire: from a training loop's calls to the curves that a Jobs service stores.

`schedule`, `values` and `naming` decide what one observation is; `series` and `state` hold what was observed;
`client`, `delivery` and `sender` bring it to the service without stalling the loop; `callback` and `logger` are what a
loop calls; `run` closes them whatever happens; `reporter` and `runner` write from the process around the loop.
"""
