"""Records of a log → throughput by an estimator."""
