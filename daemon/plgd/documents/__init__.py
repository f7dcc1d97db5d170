"""The texts being edited: bytes, version, fingerprint."""
