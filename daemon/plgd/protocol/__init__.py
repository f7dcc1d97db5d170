"""The messages of the socket: types, methods, framing. No I/O."""
