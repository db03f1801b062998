"""What results show: better, worse, same, or cannot tell. Pure but for baselines."""
