"""Metrics of NVIDIA GPUs: captures of Counterworks as NumPy arrays, pandas DataFrames and xarray Datasets.

    import counterworks as cw

    run = cw.open("run.cwd")
    run.kernels(metrics=["sm__warps_active.avg.pct_of_peak_sustained_active"]).to_dataframe()
    print(run.advise())
    cw.diff("before.cwd", "after.cwd").to_dataframe()

    with cw.capture("advice") as c:  # on a node with a GPU
        step()
    print(c.kernels())

    gh100 = cw.chip("GH100")
    cw.plan(gh100, gh100.set("speed-of-light")).save("plan.cwc")

Missing values are NaN, and each value has a status. Values are those of the commands, bit for bit."""

from counterworks._callbacks import lightning_callback, trainer_callback
from counterworks._capture import Capture, View, diff, gate, join, open, ranks
from counterworks._chip import Chip, Metric, Plan, chip, chips, plan
from counterworks._collect import Checkpoint, Session, capture, checkpoint, pretend
from counterworks._library import Error, FileError, InputError, Notice, UnsupportedError, UsageError, library, text
from counterworks._profile import Profile, profile
from counterworks._table import STATUSES, Column, Table

__version__ = text(library.counterworks_version())
__all__ = ["Capture", "Checkpoint", "Chip", "Column", "Error", "FileError", "InputError", "Metric", "Notice", "Plan",
           "Profile", "STATUSES", "Session", "Table", "UnsupportedError", "UsageError", "View", "capture", "checkpoint",
           "chip", "chips", "diff", "gate", "join", "lightning_callback", "open", "plan", "pretend", "profile", "ranks",
           "trainer_callback"]
