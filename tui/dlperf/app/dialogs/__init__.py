"""Screens in front of others: questions, lists to choose from, texts to read."""
