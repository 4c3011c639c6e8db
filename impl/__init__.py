"""The reference implementation that satisfies the contracts, one package a room."""
