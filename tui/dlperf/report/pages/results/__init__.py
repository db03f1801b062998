"""Pages of configurations, trials and their evidence."""
