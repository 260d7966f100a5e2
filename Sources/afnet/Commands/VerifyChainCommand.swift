import AFURLSession
import Foundation

/// `afnet verify-chain`: whether a session would trust a server that sends these certificates.
struct VerifyChainCommand {
    private static let options = ["--trusted", "--untrusted", "--leaf", "--host", "--ip", "--time"]
    private static let usage =
        "verify-chain needs --trusted FILE --untrusted FILE --leaf FILE, "
        + "--host NAME or --ip ADDRESS, and --time SECONDS"

    /// The years 0 to 9999, the range of dates in certificates.
    private static let times: ClosedRange<Double> = -62_167_219_200...253_402_300_799

    private let trust: ServerTrust

    static func run(_ words: [String]) -> ExitCode {
        do throws(ArgumentError) {
            let command = try VerifyChainCommand(words)
            guard let failure = command.trust.evaluation.failure else { return .done }
            try? Descriptor.standardOutput.write(Data((TerminalText.escaped(failure.message) + "\n").utf8))
            return .no
        } catch {
            Console(isSilent: false).report(error.message)
            return error.code
        }
    }

    private init(_ words: [String]) throws(ArgumentError) {
        var values: [String: String] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            guard Self.options.contains(word), values[word] == nil, let value = rest.popFirst() else {
                throw .usage("\(Self.usage); \"\(word)\" stands where none of them may")
            }
            values[word] = value
        }
        guard let trusted = values["--trusted"], let untrusted = values["--untrusted"], let leaf = values["--leaf"],
            let time = values["--time"],
            let host = values["--host"] ?? values["--ip"], values["--host"] == nil || values["--ip"] == nil
        else { throw .usage(Self.usage) }
        if values["--ip"] != nil {
            guard case .ip = PeerName(host) else { throw .usage("--ip needs an address, not \"\(host)\"") }
        }
        let served = try Self.certificates(of: leaf, for: "--leaf")
        guard served.count == 1 else { throw .usage("--leaf needs one certificate, and \(leaf) has \(served.count)") }
        trust = ServerTrust(
            servedChain: try served + Self.certificates(of: untrusted, for: "--untrusted", mayBeEmpty: true),
            host: host,
            anchors: .certificates(try Self.certificates(of: trusted, for: "--trusted", mayBeEmpty: true)),
            at: try Self.date(time)
        )
    }

    private static func date(_ text: String) throws(ArgumentError) -> Date {
        guard let seconds = Double(text), times.contains(seconds) else {
            throw .usage("--time needs seconds since 1970, in the years 0 to 9999, not \"\(text)\"")
        }
        return Date(timeIntervalSince1970: seconds)
    }

    /// - Parameter mayBeEmpty: Whether a blank file is an empty list.
    private static func certificates(
        of path: String,
        for option: String,
        mayBeEmpty: Bool = false
    ) throws(ArgumentError) -> [Certificate] {
        let bytes: Data
        do throws(SystemFailure) {
            bytes = try Descriptor.contents(of: path, limit: 64 << 20)
        } catch {
            throw .usage("\(option): \(path): \(error.text)")
        }
        if mayBeEmpty, bytes.allSatisfy({ [0x20, 0x0A, 0x0D, 0x09].contains($0) }) { return [] }
        do throws(CertificateError) {
            return try Certificate.certificates(pem: bytes)
        } catch {
            throw .usage("\(option): \(path): \(error)")
        }
    }
}
