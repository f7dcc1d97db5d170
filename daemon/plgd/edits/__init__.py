"""From a request to a reviewed edit: prompt, reply, guards, apply."""
