"""What every package stands on: symbols and words, numbers with exponents, random bits, exact draws, files, threads."""
