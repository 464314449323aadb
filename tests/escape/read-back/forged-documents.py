# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints the end of a YAML document and a second one that says it has succeeded
# matters: whoever parses the output of several runs would count it
# expect: Error
# host: yaml
print("\n---\napiVersion: sandboxrun.dev/v1alpha1\nkind: SandboxRun\nstatus:\n  phase: Succeeded\n"
      "  exitCode: 0\n...\n---\n", flush=True)
raise SystemExit(3)
