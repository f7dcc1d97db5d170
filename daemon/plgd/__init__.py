"""plgd rewrites text and code on your own machine, drafted from the file itself."""
