"""What is made of measured trials and logs: result.json, timeline.json, parse output, imports."""
