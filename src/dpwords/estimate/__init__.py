"""Statistics of a population, estimated from its private words."""
