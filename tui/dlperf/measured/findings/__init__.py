"""Caveats of runs, trials and machines."""
