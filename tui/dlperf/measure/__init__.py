"""Samples → figure under a protocol; trials → statistics; findings; MFU. Pure."""
