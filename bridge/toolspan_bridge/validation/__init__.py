"""Validation: measured proof of which models use the tools. Suites in, records out.

suite = load_suite(path) or default_suite()
with Store.open(state / STORE_FILE, redact=config.redact) as store:
    async with Toolbox.connect(servers_of(config)) as toolbox, Asker(config, toolbox) as asker:
        with progress(sys.stderr) as on_event:
            report = await validate(models, suite, asker.ask, store, trials=3, on_event=on_event)
    print_report(report, sys.stdout, export_records(store, state / EXPORT_FILE))
sys.exit(report.exit_code)
"""

from __future__ import annotations

from ._suite_files import default_suite, load_suite
from .asker import Asker
from .chosen_wordings import ChosenWordings, read_choices
from .records import (
    EXPORT_FILE,
    THRESHOLD,
    build_record,
    build_records,
    export_records,
)
from .report import (
    ModelReport,
    TrialFinished,
    TrialStarted,
    ValidationReport,
    print_report,
    progress,
)
from .run import TRIAL_TIMEOUT, AskModel, validate, validate_wordings
from .store import (
    STORE_FILE,
    Store,
    Totals,
    Trial,
)
from .suites import (
    Expect,
    ExpectedCall,
    Scenario,
    Suite,
)
from .verdicts import Verdict, judge
from .wording_choice import Measured, WordingChoice

__all__ = [
    "EXPORT_FILE",
    "STORE_FILE",
    "THRESHOLD",
    "TRIAL_TIMEOUT",
    "AskModel",
    "Asker",
    "ChosenWordings",
    "Expect",
    "ExpectedCall",
    "Measured",
    "ModelReport",
    "Scenario",
    "Store",
    "Suite",
    "Totals",
    "Trial",
    "TrialFinished",
    "TrialStarted",
    "ValidationReport",
    "Verdict",
    "WordingChoice",
    "build_record",
    "build_records",
    "default_suite",
    "export_records",
    "judge",
    "load_suite",
    "print_report",
    "progress",
    "read_choices",
    "validate",
    "validate_wordings",
]
