"""The engine: queue, retries, resume, journal. Viewers read the files that it writes."""
