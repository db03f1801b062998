"""Lists that the owner of a site writes beside it: what is no secret, and which claims were withdrawn."""
