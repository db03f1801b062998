"""Better or worse: claims, comparisons, baselines, reproductions and trends."""
