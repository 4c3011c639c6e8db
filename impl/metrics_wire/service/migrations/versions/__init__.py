"""The steps; each file names the one that it follows."""
