"""The only package that turns ε into weights: guarantees, utilities, calibration and its certificates."""
