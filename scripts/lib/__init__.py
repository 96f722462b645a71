"""What scripts share: results kept, benchmarks opened, clocks, the archive of own graphs."""
