"""The daemon process: socket, dispatch, scheduling, the model thread."""
