"""Logs of NVIDIA's DLLogger."""
