"""Switches the recorder on by environment: put this folder on PYTHONPATH and set POOLPROOF_RECORD=/path/prefix.

Python runs one `sitecustomize` at start; whatever other one there is (a distribution's, a tracer's) is run first.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_the_other():
    """Runs the sitecustomize that this one hides, under that name."""
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _install_recorder():
    path = os.path.join(os.path.dirname(_HERE), "poolproof_recorder.py")
    spec = importlib.util.spec_from_file_location("poolproof_recorder", path)
    recorder = importlib.util.module_from_spec(spec)
    sys.modules["poolproof_recorder"] = recorder
    spec.loader.exec_module(recorder)
    recorder.install()


try:
    _run_the_other()
finally:
    if os.environ.get("POOLPROOF_RECORD"):
        _install_recorder()
