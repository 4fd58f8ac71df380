"""The MLflow mirror: steps write notes, one writer mirrors them."""
