"""Inventory plugin: one host per environment, its variables from the stack's outputs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

from components import private
from validation.outputs import from_file, from_stack, resolved
from validation.settings import OutputsError

DOCUMENTATION = """
name: kit_stack
short_description: The cluster of a Pulumi stack of this kit
description:
  - Reads C(pulumi stack output --json --stack <stack>), or a file with its result, and makes one host in
    group C(clusters) with the outputs in variable C(kit). Everything runs on localhost against the kubeconfig
    and context of the outputs.
options:
  plugin:
    description: Must be C(kit_stack).
    required: true
    choices: [kit_stack]
  stack:
    description: Name of the stack; also the host's name.
    type: str
    required: true
  outputs_file:
    description: File with saved outputs, relative to the project; the CLI is not called then.
    type: str
    default: ""
    env:
      - name: KIT_OUTPUTS_FILE
  report_dir:
    description: Folder of the report, relative to the project.
    type: str
    default: build/report
    env:
      - name: KIT_REPORT_DIR
"""


class InventoryModule(BaseInventoryPlugin):  # type: ignore[misc]
    """See DOCUMENTATION."""

    NAME = "kit_stack"

    def verify_file(self, path: str) -> bool:
        """Only files named kit_stack.yml are its configuration."""
        return bool(super().verify_file(path)) and os.path.basename(path) == "kit_stack.yml"

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Read the outputs and add the host; AnsibleParserError tells what is missing."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        # Here, because this is the first of the kit that every playbook runs.
        private.use()
        project = Path(_ROOT)
        stack = str(self.get_option("stack"))
        file = str(self.get_option("outputs_file") or "")
        try:
            raw = from_file(project / file) if file else from_stack(stack, project)
            kit = resolved(raw, project)
        except OutputsError as error:
            raise AnsibleParserError(f"inventory of stack {stack!r}: {error}") from error
        self.inventory.add_group("clusters")
        self.inventory.add_host(stack, group="clusters")
        variables = {
            "kit": kit,
            "kit_project_dir": str(project),
            "kit_report_dir": str(project / str(self.get_option("report_dir"))),
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
        }
        for name, value in variables.items():
            self.inventory.set_variable(stack, name, value)
