# SPDX-License-Identifier: BSD-3-Clause
"""What `surety-lab papers` becomes: this directory as a package, whatever it is called."""
import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)
sys.exit(importlib.import_module(f"{HERE.name}.command").main())
