"""Auditing judges: adversarial citation cases with known verdicts, agreement with a second judge, sensitivity to length."""
