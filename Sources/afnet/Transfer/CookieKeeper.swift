import AFURLSession
import Foundation

/// The jar of one group: reads it from files, and writes it. Cookies of the command line belong to the request and
/// never to the jar, which would send them to every port of their host, and without TLS.
@MainActor final class CookieKeeper {
    private let options: CookieOptions
    private let cookies: RunCookies

    init(_ options: CookieOptions, cookies: RunCookies) throws(TransferFailure) {
        self.options = options
        self.cookies = cookies
        for path in options.files { try load(path) }
    }

    /// A missing file has no cookies yet.
    private func load(_ path: String) throws(TransferFailure) {
        let data: Data
        do throws(SystemFailure) {
            data = try Descriptor.input(path, limit: CookieText.sizeLimit)
        } catch {
            if error.isMissingFile { return }
            throw TransferFailure(.cannotRead, "--cookie-file: \(path): \(error.text)")
        }
        let found = CookieText.cookies(in: data)
        cookies.add(options.skipsSessionCookies ? found.filter { !$0.isSessionOnly } : found)
    }

    /// Writes the jar after the last URL of the group.
    func finish() throws(TransferFailure) {
        guard let path = options.jar else { return }
        do throws(SystemFailure) {
            let text = CookieText.text(of: cookies.storage.cookies ?? [])
            if path == "-" {
                try Descriptor.standardOutput.write(text)
            } else {
                try Descriptor.replace(path, with: text)
            }
        } catch {
            throw TransferFailure(.cannotWrite, "--cookie-jar: \(path): \(error.text)")
        }
    }
}
