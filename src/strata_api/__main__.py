"""``python -m strata_api`` is the command ``strata-api``."""

from strata_api.cli import main

raise SystemExit(main())
