"""Callbacks that capture one step of a training: of PyTorch Lightning, and of Hugging Face's Trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from counterworks._collect import Session, What, capture

if TYPE_CHECKING:
    import lightning.pytorch
    import transformers


class _Step:
    """Captures from the first begin() after `step` steps, or later ones of a training that is resumed, until that step
    is done. `capture` is None before."""

    def __init__(self, what: What, step: int, options: dict) -> None:
        repeats = options.get("kind", "kernels") in ("kernels", "ranges")
        self._what, self._step, self._options = what, step, {"replay": "kernel", **options} if repeats else options
        self.capture: Optional[Session] = None
        self._begun: Optional[int] = None

    def begin(self, done: int) -> None:
        if done >= self._step and self.capture is None:
            self.capture = capture(self._what, **self._options)
            self.capture.__enter__()
            self._begun = done

    def end(self, done: int) -> None:
        if self._begun is not None and done > self._begun:
            self.close(None)

    def close(self, failed: Optional[BaseException]) -> None:
        if self._begun is not None:
            self._begun = None
            self.capture.__exit__(type(failed) if failed else None, failed, None)


def lightning_callback(what: What = None, *, step: int = 10, **options: Any) -> lightning.pytorch.Callback:
    """A callback of PyTorch Lightning that captures one step of the training:

        step = cw.lightning_callback("advice", step=10, path="step.cwd")
        lightning.Trainer(callbacks=[step]).fit(model, data)
        print(step.capture.kernels())

    `step` is how many optimizer steps go before. A step that accumulates gradients has all its batches. `what` and
    `options` are those of capture(); replay is "kernel" by default, so that all metrics of the one step are there."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class CaptureStep(_Step, Callback):
        def on_train_batch_start(self, trainer: Any, *_: Any) -> None:
            self.begin(trainer.global_step)

        def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
            self.end(trainer.global_step)

        def on_train_end(self, *_: Any) -> None:
            self.close(None)

        def on_exception(self, _trainer: Any, _module: Any, exception: BaseException) -> None:
            self.close(exception)

    return CaptureStep(what, step, options)


def trainer_callback(what: What = None, *, step: int = 10, **options: Any) -> transformers.TrainerCallback:
    """A callback of Hugging Face's Trainer that captures one step of the training:

        step = cw.trainer_callback("advice", step=10, path="step.cwd")
        transformers.Trainer(model, arguments, train_dataset=data, callbacks=[step]).train()

    All else is as for lightning_callback()."""
    from transformers import TrainerCallback

    class CaptureStep(_Step, TrainerCallback):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self.close(RuntimeError("the training before ended in its step"))  # the Trainer tells of no exception

        def on_step_begin(self, _arguments: Any, state: Any, _control: Any, **_: Any) -> None:
            self.begin(state.global_step)

        def on_step_end(self, _arguments: Any, state: Any, _control: Any, **_: Any) -> None:
            self.end(state.global_step)

        def on_train_end(self, *_: Any, **__: Any) -> None:
            self.close(None)

    return CaptureStep(what, step, options)
