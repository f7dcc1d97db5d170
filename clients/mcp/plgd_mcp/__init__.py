"""plgd for agents that speak MCP: a thin server over the daemon."""
