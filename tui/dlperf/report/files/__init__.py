"""Files of the site beside its pages: editions, feed, search, previews, downloads."""
