"""Agents answer questions: in one call, by retrieval, or over many turns with tools."""
