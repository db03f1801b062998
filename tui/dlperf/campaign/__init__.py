"""The engine: queue, retries, resume, journal. It draws nothing: whoever watches reads the files it writes."""
