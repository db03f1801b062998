"""Access to machines: transports, the client of the agent, and the supervisor that runs there."""
