#!/usr/bin/env bash
# A night: every table × four kernels × three q as one batch. A webhook tells when it has ended; what failed runs again.
#     NIGHT=monday examples/night.sh class monday.csv a.csv b.csv c.csv    # the target, the result, the tables
# The service needs ISM_WEBHOOK_PRIVATE=true to call this machine. After Ctrl-C the same command goes on: $NIGHT is the
# Idempotency-Key, so nothing is posted twice.
set -euo pipefail
URL=${ISM_URL:-http://127.0.0.1:8000} PORT=${PORT:-8765} TARGET=$1 OUT=$2
KERNELS='["linear", "polynomial", "gaussian", "multiquadratic"]'
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
api() { curl -sS --fail-with-body ${ISM_API_KEY:+-H "Authorization: Bearer $ISM_API_KEY"} "$@"; }
get() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
RECEIVER='import base64, hmac, http.server, json, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        id, time, given = (self.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        mac = hmac.digest(base64.b64decode(sys.argv[2][6:]), f"{id}.{time}.{body}".encode(), "sha256")
        self.server.ended = given == "v1," + base64.b64encode(mac).decode() and json.loads(body)["data"]["id"] == sys.argv[3]
        (self.send_response(204), self.end_headers())
with http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Hook) as server:
    while not getattr(server, "ended", False): server.handle_request()'
night() { # post the jobs $2 once under the key $1, wait for the webhook unless they have ended, write the table $3
    batch=$(api "$URL/batches" -H "Idempotency-Key: $1" -d "{\"notify\":{\"url\":\"http://127.0.0.1:$PORT\"},\"jobs\":$2}" | get 'd["id"]')
    python3 -c "$RECEIVER" "$PORT" "$(api "$URL/webhooks/secret" | get 'd["secret"]')" "$batch" 2>/dev/null &
    if [ "$(api "$URL/jobs?batch=$batch&state=queued,running" | get 'len(d["items"])')" = 0 ]; then kill $!; else wait $!; fi
    api "$URL/batches/$batch?format=csv" -o "$3"; }
tables=$(for file in "${@:3}"; do api -F "file=@$file" "$URL/datasets" | get 'json.dumps(d["id"])'; done | paste -sd,)
night "$NIGHT" "{\"dataset\":[$tables],\"paradigm\":\"supervised\",\"target\":\"$TARGET\",\"kernel\":$KERNELS,\"q\":[1,2,3]}" "$OUT"
again=$(api "$URL/jobs?batch=$batch&state=failed&limit=1000" | get 'json.dumps([job["spec"] for job in d["items"]])')
[ "$again" = "[]" ] || { night "$NIGHT again" "$again" "$OUT.again" && grep -v ,failed, "$OUT" >"$OUT.first" && python3 -c 'import csv, sys; rows = [row for name in sys.argv[2:] for row in csv.DictReader(open(name))]; names = list(dict.fromkeys(name for row in rows for name in row)); out = csv.DictWriter(open(sys.argv[1], "w"), names); out.writeheader(); out.writerows(rows)' "$OUT" "$OUT.first" "$OUT.again"; }
