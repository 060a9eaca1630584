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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .asker import Asker
    from .badges import MINIMUM, THRESHOLD, UNTESTED, Badge, BadgeRule, badge_of, badge_of_model
    from .evidence import Comparison, Counts, Evidence, Record, compared, records_of
    from .fingerprint import Fingerprint
    from .records import (
        EXPORT_FILE,
        build_record,
        build_records,
        export_records,
    )
    from .runs.events import RunBegan, TrialFinished, TrialStarted
    from .runs.lanes import Concurrency
    from .runs.limits import RunLimits, Stop
    from .runs.one_trial import AskModel
    from .runs.progress import progress
    from .runs.report import ModelReport, ValidationReport
    from .runs.table import print_report
    from .runs.validate import TRIAL_TIMEOUT, validate, validate_wordings
    from .standing.present import present_of
    from .storage.run import Run
    from .storage.store import STORE_FILE, Store, Totals
    from .storage.stored_records import read_records
    from .storage.trial import Trial
    from .suites import (
        Conversed,
        Expect,
        ExpectedCall,
        Scenario,
        Suite,
        Turn,
        Verdict,
        check_tools,
        default_suite,
        judge,
        load_suite,
    )
    from .tracker import Tracker
    from .wordings.choice import Measured, WordingChoice
    from .wordings.chosen import ChosenWordings, read_choices

__all__ = [
    "EXPORT_FILE",
    "MINIMUM",
    "STORE_FILE",
    "THRESHOLD",
    "TRIAL_TIMEOUT",
    "UNTESTED",
    "AskModel",
    "Asker",
    "Badge",
    "BadgeRule",
    "ChosenWordings",
    "Comparison",
    "Concurrency",
    "Conversed",
    "Counts",
    "Evidence",
    "Expect",
    "ExpectedCall",
    "Fingerprint",
    "Measured",
    "ModelReport",
    "Record",
    "Run",
    "RunBegan",
    "RunLimits",
    "Scenario",
    "Stop",
    "Store",
    "Suite",
    "Totals",
    "Tracker",
    "Trial",
    "TrialFinished",
    "TrialStarted",
    "Turn",
    "ValidationReport",
    "Verdict",
    "WordingChoice",
    "badge_of",
    "badge_of_model",
    "build_record",
    "build_records",
    "check_tools",
    "compared",
    "default_suite",
    "export_records",
    "judge",
    "load_suite",
    "present_of",
    "print_report",
    "progress",
    "read_choices",
    "read_records",
    "records_of",
    "validate",
    "validate_wordings",
]

_MODULES = {
    "EXPORT_FILE": ".records",
    "MINIMUM": ".badges",
    "STORE_FILE": ".storage.store",
    "THRESHOLD": ".badges",
    "TRIAL_TIMEOUT": ".runs.validate",
    "UNTESTED": ".badges",
    "AskModel": ".runs.one_trial",
    "Asker": ".asker",
    "Badge": ".badges",
    "BadgeRule": ".badges",
    "ChosenWordings": ".wordings.chosen",
    "Comparison": ".evidence",
    "Concurrency": ".runs.lanes",
    "Conversed": ".suites",
    "Counts": ".evidence",
    "Evidence": ".evidence",
    "Expect": ".suites",
    "ExpectedCall": ".suites",
    "Fingerprint": ".fingerprint",
    "Measured": ".wordings.choice",
    "ModelReport": ".runs.report",
    "Record": ".evidence",
    "Run": ".storage.run",
    "RunBegan": ".runs.events",
    "RunLimits": ".runs.limits",
    "Scenario": ".suites",
    "Stop": ".runs.limits",
    "Store": ".storage.store",
    "Suite": ".suites",
    "Totals": ".storage.store",
    "Tracker": ".tracker",
    "Trial": ".storage.trial",
    "TrialFinished": ".runs.events",
    "TrialStarted": ".runs.events",
    "Turn": ".suites",
    "ValidationReport": ".runs.report",
    "Verdict": ".suites",
    "WordingChoice": ".wordings.choice",
    "badge_of": ".badges",
    "badge_of_model": ".badges",
    "build_record": ".records",
    "build_records": ".records",
    "check_tools": ".suites",
    "compared": ".evidence",
    "default_suite": ".suites",
    "export_records": ".records",
    "judge": ".suites",
    "load_suite": ".suites",
    "present_of": ".standing.present",
    "print_report": ".runs.table",
    "progress": ".runs.progress",
    "read_choices": ".wordings.chosen",
    "read_records": ".storage.stored_records",
    "records_of": ".evidence",
    "validate": ".runs.validate",
    "validate_wordings": ".runs.validate",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
