"""No module imports, by whatever way, one that imports it: lazy and type-only imports counted."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


@pytest.mark.requirement("I10.1.3")
@pytest.mark.parametrize("package", ["toolspan_server", "toolspan_bridge"])
def test_no_import_leads_back_to_its_module(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
