"""Chat models behind one interface: any OpenAI-compatible server, a local model, an offline baseline."""
