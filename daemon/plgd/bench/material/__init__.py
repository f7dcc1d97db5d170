"""The material of benchmarks: real files at two releases, and edits made of them."""
