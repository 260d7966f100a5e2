"""usage: sink.py PORT

Reads the body of any request, drops it, and answers with its length and whether all of it was zeros.
"""

import socketserver
import sys


class Sink(socketserver.StreamRequestHandler):
    rbufsize = 1 << 20

    def handle(self):
        while self.rfile.readline():
            self.answer(self.fields())

    def fields(self):
        fields = {}
        while line := self.rfile.readline().strip():
            name, _, value = line.partition(b":")
            fields[name.lower()] = value.strip()
        return fields

    def answer(self, fields):
        if b"100-continue" in fields.get(b"expect", b"").lower():
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.count, self.is_blank = 0, True
        if fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.drop(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            self.drop(int(fields.get(b"content-length", b"0")))
        text = b"%d %s" % (self.count, b"zeros" if self.is_blank else b"other bytes")
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))

    def drop(self, count):
        buffer = memoryview(bytearray(1 << 20))
        zeros = bytes(1 << 20)
        while count:
            read = self.rfile.readinto(buffer[: min(count, len(buffer))])
            if not read:
                raise ConnectionError("the body ended early")
            self.is_blank = self.is_blank and buffer[:read] == zeros[:read]
            self.count += read
            count -= read


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64


with Server(("127.0.0.1", int(sys.argv[1])), Sink) as server:
    server.serve_forever()
