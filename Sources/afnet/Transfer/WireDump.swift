import Foundation

/// `--trace` and `--trace-ascii`: a file with what was sent and received, in curl's format. What is secret is *** there, unless
/// `--show-secrets` shows it.
@MainActor package struct WireDump {
    private let option: DumpOption
    private let files: RunFiles

    init?(_ option: DumpOption?, files: RunFiles) {
        guard let option else { return nil }
        self.option = option
        self.files = files
    }

    func info(_ text: String) throws(TransferFailure) { try write("== Info: \(text)\n") }

    func sentHead(_ lines: [String]) throws(TransferFailure) {
        try dump("=> Send header", data: Data(lines.map { "\($0)\r\n" }.joined().utf8))
    }

    func sent(_ data: Data) throws(TransferFailure) { try dump("=> Send data", data: data) }

    /// A head is shown line by line, as it arrives.
    func receivedHead(_ lines: [String]) throws(TransferFailure) {
        for line in lines { try dump("<= Recv header", data: Data("\(line)\r\n".utf8)) }
    }

    func received(_ data: Data) throws(TransferFailure) { try dump("<= Recv data", data: data) }

    private func dump(_ title: String, data: Data) throws(TransferFailure) {
        let count = String(data.count, radix: 16)
        var text = "\(title), \(data.count) bytes (0x\(count))\n"
        text += option.hasBytes ? Self.bytes(Array(data)) : Self.lines(Array(data))
        try write(text)
    }

    /// 64 characters to a line, or fewer where a line of the text ends.
    nonisolated package static func lines(_ bytes: [UInt8]) -> String {
        var text = ""
        var start = 0
        while start < bytes.count {
            text += String(format: "%04zx: ", start)
            var at = start
            while at < bytes.count, at < start + 64, !isLineEnd(in: bytes, at: at) {
                text.unicodeScalars.append(shown(bytes[at]))
                at += 1
            }
            text += "\n"
            start = isLineEnd(in: bytes, at: at) ? at + 2 : at
        }
        return text
    }

    /// 16 bytes to a line, and the characters behind them.
    nonisolated package static func bytes(_ bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let digits = row.map { String(format: "%02x ", Int($0)) }.joined()
            let blanks = String(repeating: "   ", count: 16 - row.count)
            return String(format: "%04zx: ", start) + digits + blanks + String(String.UnicodeScalarView(row.map(shown)))
                + "\n"
        }.joined()
    }

    nonisolated private static func isLineEnd(in bytes: [UInt8], at: Int) -> Bool {
        at + 1 < bytes.count && bytes[at] == 0x0D && bytes[at + 1] == 0x0A
    }

    nonisolated private static func shown(_ byte: UInt8) -> UnicodeScalar {
        (0x20..<0x7F).contains(byte) ? UnicodeScalar(byte) : "."
    }

    private func write(_ text: String) throws(TransferFailure) {
        do throws(SystemFailure) {
            if option.path == "%" { return try Descriptor.standardError.write(Data(text.utf8)) }
            try files.append(Data(text.utf8), to: option.path)
        } catch {
            throw TransferFailure(.cannotWrite, "--trace: cannot write \(option.path): \(error.text)")
        }
    }
}
