"""What the terminal and the command line show alike: standing, estimates, and starting a campaign."""
