"""Pages of the site: pure functions from data to Markdown, one module for each kind of page."""
