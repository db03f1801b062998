"""Raw log bytes → samples, incrementally. Knows nothing of protocols."""
