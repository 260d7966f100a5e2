internal import CBench
package import Foundation

/// The command line that every client understands; see `arguments.h`.
package struct Arguments: Sendable {
    /// What is compared with pins.
    package enum Pins: Sendable {
        case publicKey
        case certificate
    }

    /// What a request sends.
    package enum Body: Sendable {
        case file(String)
        case stream(byteCount: Int)
        case data(byteCount: Int)
    }

    package let program: String
    package let url: URL
    package let total: Int
    package let concurrency: Int
    package let warm: Int
    package let ca: String?
    package let out: String?
    package let body: Body?
    /// How long the messages are that WebSockets carry; nil for requests.
    package let messageSize: Int?
    /// What another connection is flooded with meanwhile, as the server's path names it.
    package let flood: String?
    package let style: String?
    /// What a session knows of hosts that it does not load from, and of how many.
    package let known: String?
    package let knownCount: Int
    package let pins: Pins?
    package let closes: Bool
    package let resumes: Bool
    package let isIdle: Bool
    package let isPipelined: Bool
    package let collects: Bool
    /// Where `--idle` sends its first request, for what the first request of a process costs.
    let quickURL: URL

    /// Ends the program when the arguments do not fit.
    package init() {
        var parsed = parse_arguments(CommandLine.argc, CommandLine.unsafeArgv)
        program = String(cString: parsed.program)
        let quick = String(cString: quick_url(&parsed))
        guard let url = URL(string: String(cString: parsed.url)), let quickURL = URL(string: quick) else {
            CBench.refuse(&parsed, "not a URL: ", parsed.url)
            exit(2)
        }
        (self.url, self.quickURL) = (url, quickURL)
        (total, concurrency, warm) = (parsed.total, parsed.concurrency, parsed.warm)
        ca = Self.text(parsed.ca)
        out = Self.text(parsed.out)
        messageSize = parsed.message > 0 ? parsed.message : nil
        flood = Self.text(parsed.flood)
        style = Self.text(parsed.style)
        (known, knownCount) = (Self.text(parsed.known), parsed.known_count)
        (closes, resumes) = (parsed.close_each != 0, parsed.resume != 0)
        (isIdle, isPipelined, collects) = (parsed.idle != 0, parsed.pipeline != 0, parsed.collect != 0)
        pins = parsed.pins == PINS_SPKI ? .publicKey : parsed.pins == PINS_CERTIFICATE ? .certificate : nil
        body =
            Self.text(parsed.upload).map { .file($0) }
            ?? (parsed.post > 0 ? .data(byteCount: parsed.post) : nil)
            ?? (parsed.upload_stream > 0 ? .stream(byteCount: parsed.upload_stream) : nil)
        if let out { Self.gatherDownloads(beside: out) }
    }

    /// Download tasks gather their files among the temporary ones. On the file system of `path` they can be renamed to
    /// it; from another one they would have to be copied.
    private static func gatherDownloads(beside path: String) {
        setenv("TMPDIR", URL(fileURLWithPath: path).deletingLastPathComponent().path, 1)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

    /// For what this client cannot do.
    package func refuse(_ reason: String) -> Never {
        write(reason)
        exit(2)
    }

    /// A benchmark of failures is none.
    package func fail(_ reason: String) -> Never {
        write(reason)
        exit(1)
    }

    private func write(_ message: String) {
        FileHandle.standardError.write(Data("\(program): \(message)\n".utf8))
    }
}
