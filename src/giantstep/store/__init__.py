"""Results that survive a kill: a folder with one file for each run."""
