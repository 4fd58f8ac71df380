"""What the scripts run: one module a step, from resolved files and configuration to an output file."""
