"""What a release tells about the true word: hidden runs, alignments, listed channels, and chains fitted to releases."""
