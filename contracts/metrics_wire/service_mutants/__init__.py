"""Defects of a Jobs service, one file a theme, as the checks are."""
