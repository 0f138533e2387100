#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a folder over HTTP on the loopback, with parts of files (Range) and ETags.

A path that begins with /busy/ is refused twice with 503 before it is served; one that begins with
/moved/ is a redirect to the rest of it. Of a file in a folder "first", all parts begin with the first byte.
"""
import functools
import hashlib
import http.server
import re
import sys

refused = {}


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def refuse(self, code):
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path[6:])
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if self.path.startswith("/busy/"):
            refused[self.path] = refused.get(self.path, 0) + 1
            if refused[self.path] <= 2:
                return self.refuse(503)
            self.path = self.path[5:]
        try:
            with open(self.translate_path(self.path), "rb") as file:
                content = file.read()
                tag = f'"{hashlib.sha256(content).hexdigest()}"'  # times are too coarse
        except OSError:
            return self.refuse(404)
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = map(int, part.groups()) if part else (0, len(content) - 1)
        if "/first/" in self.path:
            first, last = 0, last - first
        body = content[first:last + 1]
        self.send_response(206 if part else 200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body)))
        if part:
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(body)


handler = functools.partial(Handler, directory=sys.argv[1])
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    print(f"Serving HTTP on 127.0.0.1 port {server.server_address[1]} ()", flush=True)
    server.serve_forever()
