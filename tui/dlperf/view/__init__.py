"""What screens and commands share: state of campaigns, text formats, estimates, starting a campaign."""
