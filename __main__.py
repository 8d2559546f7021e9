"""Entry point of `pulumi up`: reads the settings, looks at the cluster, and declares the platform."""

import os
import sys
from pathlib import Path

import pulumi

from components.catalog import load_catalog
from components.connect import connect
from components.platform import Platform
from components.settings import load

# Tells the language host that the message is out; with 1 it would add "an unhandled error occurred".
SHOWN = 32

root = Path.cwd()
catalog = load_catalog()
try:
    settings = load(os.environ, catalog, root)
    cluster, facts = connect(settings.cluster, root)
    platform = Platform("runai-kit", settings, catalog, cluster, facts, root)
except pulumi.RunError as error:
    pulumi.log.error(str(error))
    sys.exit(SHOWN)
for key, value in platform.outputs(pulumi.get_stack()).items():
    pulumi.export(key, value)
