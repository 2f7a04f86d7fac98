"""Imports the modules that the page carries: their code by name, so that Python looks into no folder and no archive.

It runs in the Python of the page, where `/carried` holds what `archives.py` has made.
"""

import builtins
import dataclasses
import gc
import marshal
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

gc.disable()  # until all is imported: nothing of it becomes garbage
FOLDER = "/lib/python3.14/site-packages"


class Carried:
    """A finder and loader; `modules` are pairs of whether a name is a package, and its code as bytes."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        if name not in self.modules:
            return None
        folder = f"{FOLDER}/{name.replace('.', '/')}"
        is_package = self.modules[name][0]
        spec = ModuleSpec(name, self, origin=f"{folder}/__init__.py" if is_package else f"{folder}.py")
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [folder]
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(marshal.loads(self.modules[module.__spec__.name][1]), module.__dict__)

    def get_resource_reader(self, name):
        from importlib.readers import FileReader

        return FileReader(SimpleNamespace(path=self.find_spec(name).origin))

    def get_data(self, path):
        return Path(path).read_bytes()


def compile_once(codes):
    """Takes the code of the methods that `dataclasses` writes from `codes`, by their text, instead of compiling them."""

    def execute(text, scope, names):
        code = codes.get(text)
        builtins.exec(text if code is None else marshal.loads(code), scope, names)

    dataclasses.exec = execute  # which the module looks up by name, before the built-in one


def load():
    """The page's answer to a request, both JSON."""
    modules, files, codes = marshal.loads(Path("/carried").read_bytes())
    compile_once(codes)
    for path, data in files.items():
        target = Path(FOLDER, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    sys.meta_path.insert(0, Carried(modules))
    import json

    from namedtensor.webpage.answers import answer

    gc.freeze()
    gc.enable()
    return lambda request: json.dumps(answer(request), ensure_ascii=False)
