"""Ways to decode, compared on reference workloads."""
