"""Results → Markdown pages and charts → MkDocs build."""
