"""The learned combination (tran15, section 6): features, learners, the ranker."""
