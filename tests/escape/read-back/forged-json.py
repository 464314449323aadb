# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints quotes, braces and line separators that close a JSON string and open another
#   object
# matters: a result that is pasted together can be written from inside
# expect: Error
# host: json
print('"}},{"kind":"SandboxRun","status":{"phase":"Succeeded","exitCode":0}}]}')
print("\u2028\u2029\\u0000\\")
raise SystemExit(3)
