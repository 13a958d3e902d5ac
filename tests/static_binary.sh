#!/bin/sh
# The static binary alone in an empty folder: no libc, no data, no shell. Uses chroot as root, else an unprivileged
# user namespace; where neither is allowed it checks that the file needs no loader.
set -eu
binary=$1
if readelf -l "$binary" | grep -q INTERP || readelf -d "$binary" 2>/dev/null | grep -q NEEDED; then
  echo "static_binary: $binary still needs a dynamic loader" >&2
  exit 1
fi
jail=$(mktemp -d)
trap 'rm -rf "$jail"' EXIT
cp "$binary" "$jail/sextant"
if [ "$(id -u)" = 0 ]; then
  enter="chroot $jail"
elif unshare --user --map-root-user true 2>/dev/null; then
  enter="unshare --user --map-root-user chroot $jail"
else
  echo "static_binary: no chroot here; checked that the file is static"
  exit 0
fi
# shellcheck disable=SC2086 # word splitting is meant
answer=$($enter /sextant model deepseek-v3 --json)
echo "$answer" | grep -q '"parameters_total": 671026419200'
# shellcheck disable=SC2086
$enter /sextant cluster 64xh100-sxm >/dev/null
# shellcheck disable=SC2086
$enter /sextant doctor | grep -q 'ok .*models'
# Threads and the protocol work there too.
# shellcheck disable=SC2086
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' | $enter /sextant mcp | grep -q '"name":"diagnose"'

# A language model by http: the host's name is found in the jail's own /etc/hosts, and the reply read.
mkdir "$jail/etc"
python3 - "$jail/port" <<'PYTHON' &
import http.server, sys
class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        said = '{"choices":[{"delta":{"content":"{\\"summary\\":\\"read in the jail\\",\\"proposals\\":[]}"},"finish_reason":"stop"}]}'
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"data: {said}\n\ndata: [DONE]\n\n".encode())
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Model)
open(sys.argv[1], "w").write(f"{server.server_port}\n")
server.serve_forever()
PYTHON
model=$!
trap 'kill $model; rm -rf "$jail"' EXIT
while [ ! -s "$jail/port" ]; do sleep 0.1; done
port=$(cat "$jail/port")
# Exit code 1 is an answer: there is nothing to propose.
asked() { $enter /sextant tune llama-3.2-1b --on 8xh100-sxm --layout tp=8 --no-planner --no-kb --no-log --llm-model m --json "$@" 2>&1 || [ $? -le 1 ]; }
asked --llm "http://model.test:$port" | grep -q "no address of 'model.test' is known"
echo '127.0.0.1 model.test' >"$jail/etc/hosts"
asked --llm "http://model.test:$port" | grep -q 'read in the jail'
asked --llm "http://127.0.0.1:1" | grep -q 'cannot connect'
if env -u SSL_CERT_FILE $enter /sextant tune llama-3.2-1b --on 8xh100-sxm --llm-model m --llm https://model.test >/dev/null 2>"$jail/err"; then
  echo "static_binary: https without authorities" >&2
  exit 1
fi
grep -q 'no certificates of authorities' "$jail/err"
echo "static_binary: $(du -h "$binary" | cut -f1) runs alone in an empty root"
