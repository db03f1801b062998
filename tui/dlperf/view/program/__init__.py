"""From a program's command line to catalogue entries: run it once, and write down what it prints."""
