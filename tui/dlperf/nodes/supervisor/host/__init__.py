"""What a node is, has loaded and does: facts, containers, libraries, the kernel's log and telemetry."""
