"""AirQA-Real's evaluators in both profiles, after the functions of OpenDFM/NeuSym-RAG@596e644e `evaluation/`."""
