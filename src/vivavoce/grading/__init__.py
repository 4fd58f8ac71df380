"""Graders: what is asked of a judge for one rollout, and the judgements that follow, in both profiles."""
