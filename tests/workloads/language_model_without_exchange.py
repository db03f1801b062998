"""pytorch_llm.py whose ranks keep their gradients to themselves; started by test_language_models.py."""

import pytorch_llm
import pytorch_trainer

pytorch_trainer.Bucket.receive = lambda self: self.sent.wait()
options = pytorch_llm.options()
options.parallel = "replicate"
pytorch_llm.main(options)
