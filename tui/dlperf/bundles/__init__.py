"""Bundles: a campaign as one archive, which others send and which is accepted without trust in anything in it."""
