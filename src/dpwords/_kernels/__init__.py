"""Loops over arrays, compiled: arrays in, arrays out, no classes."""
