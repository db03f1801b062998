"""pytorch_vision.py whose ranks keep their gradients to themselves; started by test_parallel.py."""

import pytorch_trainer
import pytorch_vision
from small import shrink

shrink(pytorch_vision)
pytorch_trainer.Bucket.receive = lambda self: self.sent.wait()
pytorch_vision.main(pytorch_vision.options())
