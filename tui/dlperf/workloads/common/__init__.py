"""What the training programs of several frameworks share."""
