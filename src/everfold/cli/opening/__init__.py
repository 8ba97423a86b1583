"""What every command begins with: options, settings, the engine."""
