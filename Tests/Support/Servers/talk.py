"""usage: talk.py CERTIFICATE KEY PORT PORT PORT PORT

Speaks WebSocket with the libraries websockets (on the first two ports) and aiohttp (on the others), on the second
port of each over TLS. A path says what the server does with a WebSocket:
  /echo                    sends back each message as it came
  /close?code=C&reason=R   closes
  /growing?count=N&step=S  sends N messages, each S bytes longer than the one before, of both kinds in turn, and closes
  /fragments               sends a text and bytes in three fragments each, with pings between them, and closes
  /ping                    pings three times, says how many pongs came, and closes
  /silent?pings=N          says nothing until the client has pinged N times, and then so, and closes
  /drop                    ends the connection without a Close frame
What the server asks of the request, in any path:
  protocols=a,b            the subprotocols it speaks
  deflate=P,P=V            the parameters of permessage-deflate it insists on (websockets only); deflate=no for none
  locked=1                 Basic authentication
  cookie=NAME=VALUE        this cookie, and 403 without it
  give=NAME=VALUE          sets this cookie in the response
  refuse=STATUS            answers so
  to=PATH                  redirects there; the rest of the query goes along
With id=NAME the server remembers what it saw. /seen?id=NAME answers with that as JSON when the WebSocket is over.
"""

import asyncio
import http.cookies
import json
import ssl
import sys
import urllib.parse

import aiohttp
from aiohttp import WSMsgType, web
from websockets.asyncio.server import ServerConnection, basic_auth, serve
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.frames import Opcode

USER, PASSWORD = "proxyuser", "two.words-77"
LIMIT = 4 << 20
# Seconds: the machine may be busy with other tests.
PATIENCE = 40


class Query(dict):
    def __init__(self, target):
        parts = urllib.parse.urlsplit(target)
        super().__init__(urllib.parse.parse_qsl(parts.query))
        self.path = parts.path

    @property
    def protocols(self):
        return self["protocols"].split(",") if "protocols" in self else None

    def rest(self, *names):
        return urllib.parse.urlencode({name: value for name, value in self.items() if name not in names})


# MARK: What was seen


class Seen:
    """What one client did."""

    every = {}

    @classmethod
    def of(cls, query):
        return cls.every.setdefault(query.get("id"), cls())

    def __init__(self):
        self.over = asyncio.Event()
        self.facts = {"requests": [], "messages": [], "pings": [], "pongs": []}

    def request(self, target, fields):
        names = ("cookie", "authorization", "sec-websocket-extensions", "sec-websocket-protocol", "host")
        self.facts["requests"].append({"target": target} | {n: fields[n] for n in names if n in fields})

    def message(self, content):
        is_text = isinstance(content, str)
        self.facts["messages"].append(f"text {len(content.encode())}" if is_text else f"bytes {len(content)}")

    async def report(self):
        try:
            await asyncio.wait_for(self.over.wait(), PATIENCE)
        except asyncio.TimeoutError:
            pass
        return json.dumps(self.facts | {"over": self.over.is_set()})


async def gate(query, fields):
    """The status, fields and text of a response in place of a WebSocket, or nothing."""
    if query.path == "/seen":
        return 200, {"Content-Type": "application/json"}, await Seen.of(query).report()
    Seen.of(query).over.set()
    if "to" in query:
        return 302, {"Location": query["to"] + "?" + query.rest("to")}, "elsewhere"
    if "refuse" in query:
        return int(query["refuse"]), {"X-Why": "asked for"}, "refused"
    if "cookie" in query:
        name, _, value = query["cookie"].partition("=")
        sent = http.cookies.SimpleCookie(fields.get("cookie", ""))
        if name not in sent or sent[name].value != value:
            return 403, {}, "without the cookie"
    return None


# MARK: What is said


async def converse(talk, query):
    seen = Seen.of(query)
    seen.over.clear()
    try:
        await paths[query.path](talk, query, seen)
    finally:
        seen.facts |= talk.ending()
        seen.over.set()


async def echo(talk, query, seen):
    async for content in talk.messages():
        seen.message(content)
        await talk.send(content)


async def close(talk, query, seen):
    await talk.close(int(query.get("code", "1000")), query.get("reason", ""))


async def growing(talk, query, seen):
    for number in range(int(query["count"])):
        size = number * int(query["step"])
        await talk.send("x" * size if number % 2 == 0 else bytes(i & 0xFF for i in range(size)))
    await talk.close(1000, "grown")


async def fragments(talk, query, seen):
    # The second fragment begins in the middle of a character.
    await talk.send_parts(["one é".encode()[:5], "é, two".encode()[1:], b", three"], is_text=True)
    await talk.send_parts([bytes(1000), b"", b"\xff" * 1000], is_text=False)
    await talk.close(1000, "whole")


async def ping(talk, query, seen):
    count = 0
    for content in (b"", b"there?", bytes(range(125))):
        count += await talk.ping(content)
    await talk.send(f"{count} pongs")
    await talk.close(1000, "")


async def silent(talk, query, seen):
    await talk.pinged(int(query["pings"]))
    await talk.send("pinged")
    await talk.close(1000, "")


async def drop(talk, query, seen):
    await talk.send("last")
    talk.drop()


paths = {f"/{say.__name__}": say for say in (echo, close, growing, fragments, ping, silent, drop)}


# MARK: websockets


class Watched(ServerConnection):
    seen = None

    def process_event(self, event):
        kind = {Opcode.PING: "pings", Opcode.PONG: "pongs"}.get(getattr(event, "opcode", None))
        if kind:
            self.seen.facts[kind].append(bytes(event.data).hex())
        super().process_event(event)


class Websockets:
    def __init__(self, connection):
        self.connection = connection

    async def messages(self):
        try:
            while True:
                yield await self.connection.recv()
        except ConnectionClosed:
            return

    async def send(self, content):
        await self.connection.send(content)

    async def send_parts(self, parts, is_text):
        async def between():
            for part in parts:
                yield part
                await self.connection.ping()

        await self.connection.send(between(), text=is_text)

    async def ping(self, content):
        try:
            await asyncio.wait_for(await self.connection.ping(content or None), PATIENCE)
            return 1
        except asyncio.TimeoutError:
            return 0

    async def pinged(self, count):
        while len(self.connection.seen.facts["pings"]) < count:
            await asyncio.sleep(0.01)

    async def close(self, code, reason):
        await self.connection.close(code, reason)

    def drop(self):
        self.connection.transport.close()

    def ending(self):
        protocol = self.connection.protocol
        received = protocol.close_rcvd
        return {
            "code": received and received.code,
            "reason": received and received.reason,
            "subprotocol": self.connection.subprotocol,
            "extensions": self.connection.response.headers.get("Sec-WebSocket-Extensions"),
        }


def deflate_factory(text):
    terms = dict(part.partition("=")[::2] for part in text.split(",") if part)
    return ServerPerMessageDeflateFactory(**{name: int(value) if value else True for name, value in terms.items()})


async def admit(connection, request):
    query = Query(request.path)
    connection.seen = Seen.of(query)
    if query.path != "/seen":
        connection.seen.request(request.path, request.headers)
    if instead := await gate(query, request.headers):
        status, fields, text = instead
        response = connection.respond(status, text)
        for name, value in fields.items():
            response.headers.pop(name, None)
            response.headers[name] = value
        return response
    terms = query.get("deflate", "")
    connection.protocol.available_extensions = [] if terms == "no" else [deflate_factory(terms)]
    connection.protocol.available_subprotocols = query.protocols
    if "locked" in query:
        return await basic_auth("talk", credentials=(USER, PASSWORD))(connection, request)
    return None


def give(connection, request, response):
    query = Query(request.path)
    if "give" in query:
        response.headers["Set-Cookie"] = query["give"]


async def start_websockets(port, context):
    async def handle(connection):
        await converse(Websockets(connection), Query(connection.request.path))

    def select(connection, offered):
        available = connection.protocol.available_subprotocols or []
        return next((name for name in available if name in offered), None)

    await serve(
        handle, "127.0.0.1", port, ssl=context, process_request=admit, process_response=give, compression=None,
        select_subprotocol=select, create_connection=Watched, max_size=LIMIT, ping_interval=None, open_timeout=None,
        close_timeout=PATIENCE,
    )


# MARK: aiohttp


class Aiohttp:
    data = WSMsgType.TEXT, WSMsgType.BINARY

    def __init__(self, request, response, seen):
        self.request, self.response, self.seen = request, response, seen
        self.closed = None

    async def receive(self):
        """The next message, ping or pong, or nothing at the end."""
        message = await self.response.receive()
        if message.type is WSMsgType.PING:
            self.seen.facts["pings"].append(bytes(message.data).hex())
            await self.response.pong(message.data)
        elif message.type is WSMsgType.PONG:
            self.seen.facts["pongs"].append(bytes(message.data).hex())
        elif message.type is WSMsgType.CLOSE:
            self.closed = message.data, message.extra or ""
        return message if message.type in (*self.data, WSMsgType.PING, WSMsgType.PONG) else None

    async def messages(self):
        while message := await self.receive():
            if message.type in self.data:
                yield message.data

    async def send(self, content):
        await (self.response.send_str if isinstance(content, str) else self.response.send_bytes)(content)

    async def send_parts(self, parts, is_text):
        # aiohttp sends whole messages only: these frames are ours.
        for number, part in enumerate(parts):
            first = (0x80 if part is parts[-1] else 0) | (0 if number else 1 if is_text else 2)
            length = bytes([len(part)]) if len(part) < 126 else b"\x7e" + len(part).to_bytes(2, "big")
            self.request.transport.write(bytes([first]) + length + part)
            await self.response.ping(b"between")
        for _ in parts:
            await self.receive()

    async def ping(self, content):
        await self.response.ping(content)
        message = await self.receive()
        return int(message is not None and message.type is WSMsgType.PONG and bytes(message.data) == content)

    async def pinged(self, count):
        while len(self.seen.facts["pings"]) < count and await self.receive():
            pass

    async def close(self, code, reason):
        await self.response.close(code=code, message=reason.encode())

    def drop(self):
        self.request.transport.close()

    def ending(self):
        code = self.response.close_code
        # Of a Close frame that answers its own aiohttp tells the code alone.
        code, reason = self.closed or (code, None)
        return {
            "code": None if code is None else int(code),
            "reason": reason,
            "subprotocol": self.response.ws_protocol,
            "extensions": self.response.headers.get("Sec-WebSocket-Extensions"),
        }


async def handle_aiohttp(request):
    query = Query(request.path_qs)
    seen = Seen.of(query)
    fields = {name.lower(): value for name, value in request.headers.items()}
    if query.path != "/seen":
        seen.request(request.path_qs, fields)
    if instead := await gate(query, fields):
        status, answer, text = instead
        return web.Response(status=status, headers=answer, body=text.encode())
    if "locked" in query:
        if fields.get("authorization") != aiohttp.encode_basic_auth(USER, PASSWORD):
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="talk"'}, text="locked")
    response = web.WebSocketResponse(
        autoping=False, compress=query.get("deflate") != "no", protocols=query.protocols or (), max_msg_size=LIMIT,
        timeout=PATIENCE,
    )
    if "give" in query:
        response.headers["Set-Cookie"] = query["give"]
    await response.prepare(request)
    await converse(Aiohttp(request, response, seen), query)
    return response


async def echo_aiohttp(request):
    """Answers each piece in capitals as it comes."""
    response = web.StreamResponse()
    await response.prepare(request)
    async for piece in request.content.iter_any():
        await response.write(piece.upper())
    await response.write_eof()
    return response


async def start_aiohttp(port, context):
    app = web.Application()
    app.router.add_post("/echo", echo_aiohttp)
    app.router.add_get("/{path:.*}", handle_aiohttp)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()


async def main(certificate, key, *ports):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # The last one is the one that with-servers waits for.
    await start_websockets(ports[0], None)
    await start_websockets(ports[1], context)
    await start_aiohttp(ports[2], None)
    await start_aiohttp(ports[3], context)
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
