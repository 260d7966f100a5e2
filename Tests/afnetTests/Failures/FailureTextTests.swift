import Foundation
import Testing
import afnet

@testable import AFURLSession

/// Messages speak of the command line, and not of the library.
@Suite struct FailureTextTests {
    private static let failures: [LoadFailure] = [
        LoadFailure(
            .timeoutResource,
            phase: .connecting,
            message: "A.",
            advice: "Raise timeoutIntervalForResource."
        ),
        LoadFailure(.timeoutIdle, phase: .connecting, message: "A.", advice: "Raise timeoutInterval."),
        LoadFailure(
            .timeoutConnect,
            phase: .connecting,
            message: "A.",
            advice: "Raise connectTimeout if it may."
        ),
        LoadFailure(.timeoutHandshake, phase: .tls, message: "A.", advice: "Raise tlsTimeout if it may."),
        LoadFailure(
            .redirect,
            phase: .waitingForHead,
            message: "A.",
            advice: "Raise maximumCount of the redirectPolicy."
        ),
        LoadFailure(
            .redirectScheme,
            phase: .waitingForHead,
            message: "A.",
            advice: "Clear followsRedirects."
        ),
        LoadFailure(
            .redirectBody,
            phase: .waitingForHead,
            message: "A.",
            advice: "Answer urlSession(_:task:)."
        ),
        LoadFailure(.response, phase: .waitingForHead, message: "A.", advice: "Read it with bytes(for:)."),
        LoadFailure(.limit, phase: .receivingBody, message: "A.", advice: "Raise maximumBodyInMemory."),
        LoadFailure(
            .resourcesCellular,
            phase: .connecting,
            message: "A.",
            advice: "Set allowsCellularAccess."
        ),
    ]

    @Test(arguments: failures)
    func `advice names no declaration`(failure: LoadFailure) {
        let text = FailureText.text(of: failure)
        #expect(text.hasPrefix("A.") && !text.contains(/[a-z][A-Z]|\(/))
    }

    @Test func `other advice stays, and what happened names options`() {
        let plain = LoadFailure(.resources, phase: .connecting, message: "A.", advice: "Check OpenSSL and the host.")
        #expect(FailureText.text(of: plain) == "A. Check OpenSSL and the host.")
        let filtered = LoadFailure(
            .resourcesAddress,
            phase: .connecting,
            message: "Connecting to h:80 failed: the session's addressFilter allows none of its addresses.",
            advice: "Let the filter allow them."
        )
        #expect(FailureText.text(of: filtered) == "Connecting to h:80 failed: it has no address for --ipv4 or --ipv6.")
    }

    @Test func `a program says -m, the path of a socket, and the URL of a picture`() async throws {
        let folder = try Program.Folder()
        let missing = try await Program.run("--unix-socket", folder.path("none"), "http://docker/")
        #expect(missing.code == 7 && missing.errors.contains(folder.path("none")))
        let picture = try await Program.run("images", "http://127.0.0.1:1/a.png")
        #expect(picture.code == 7 && picture.errors.hasPrefix("afnet: http://127.0.0.1:1/a.png: Connecting to"))
        let server = try TestServer()
        let taken = try await Program.run("serve", "--port", "\(server.port)", folder.url.path)
        #expect(taken.code == 7 && taken.errors.hasPrefix("afnet: serve: port \(server.port) of 127.0.0.1: "))
    }
}
