#!/usr/bin/env bash
# A night: every table × four kernels × three q as one batch. A webhook tells when it has ended; what failed runs again.
#     NIGHT=monday examples/night.sh class monday.csv a.csv b.csv c.csv    # the target, the result, the tables
# The service needs ISM_WEBHOOK_PRIVATE=true to call this machine. After Ctrl-C the same command goes on: $NIGHT is the
# Idempotency-Key, so nothing is posted twice.
set -euo pipefail; trap 'exit 130' INT
URL=${ISM_URL:-http://127.0.0.1:8000} PORT=${PORT:-8765} TARGET=$1 OUT=$2
KERNELS='["linear", "polynomial", "gaussian", "multiquadratic"]'
api() { curl -sS --fail-with-body ${ISM_API_KEY:+-H "Authorization: Bearer $ISM_API_KEY"} "$@"; }
get() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
RECEIVER='import base64, hmac, http.server, json, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        id, time, given = (self.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        mac = hmac.digest(base64.b64decode(sys.argv[2][6:]), f"{id}.{time}.{body}".encode(), "sha256")
        known = given == "v1," + base64.b64encode(mac).decode() and json.loads(body)["data"]["id"] == sys.argv[3]
        (self.send_response(204 if known else 400), self.end_headers())
with http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Hook) as server:
    (setattr(server, "timeout", 60), server.handle_request())  # one call, or a minute has passed'
open_jobs() { api "$URL/jobs?batch=$batch&state=queued,running&limit=1" | get 'len(d["items"])'; }
ended() { until [ "$(open_jobs)" = 0 ]; do python3 -c "$RECEIVER" "$PORT" "$secret" "$batch"; done; }
secret=$(api "$URL/webhooks/secret" | get 'd["secret"]')
tables=$(for file in "${@:3}"; do api -F "file=@$file" "$URL/datasets" | get 'json.dumps(d["id"])'; done | paste -sd,)
grid="{\"dataset\":[$tables],\"paradigm\":\"supervised\",\"target\":\"$TARGET\",\"kernel\":$KERNELS,\"q\":[1,2,3]}"
body="{\"label\":\"$NIGHT\",\"notify\":{\"url\":\"http://127.0.0.1:$PORT\"},\"jobs\":$grid}"
batch=$(api "$URL/batches" -H "Idempotency-Key: $NIGHT" -d "$body" | get 'd["id"]')
ended && api -X POST "$URL/batches/$batch/retry" -o /dev/null && ended
api "$URL/batches/$batch?format=csv" -o "$OUT"
