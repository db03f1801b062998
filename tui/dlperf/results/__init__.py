"""Files of a trial → result; all results of a workspace; importing and verifying."""
