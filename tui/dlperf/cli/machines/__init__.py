"""Commands that check, prepare and clean machines."""
