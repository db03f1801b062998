"""Reaching a machine: transports, the agent and the supervisor that run there."""
