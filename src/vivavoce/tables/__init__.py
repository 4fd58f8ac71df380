"""From judgements to measures.csv and from there to tables beside the published numbers."""
