"""Parse raw log bytes into samples, incrementally. Knows nothing of protocols."""
