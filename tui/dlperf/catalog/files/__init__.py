"""Read the YAML files of a catalogue, and name every mistake in them."""
