"""An endpoint on the loopback address that speaks OpenAI's chat completions."""
