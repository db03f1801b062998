"""Training programs shipped with dlperf. Each file runs alone on a bare machine and imports nothing of dlperf."""
