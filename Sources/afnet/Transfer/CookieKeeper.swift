import AFURLSession
import Foundation

/// The jar of one group: fills it from files, and writes it. Cookies of the command line are the request's, and never in
/// it: by its rules they would go to every port of their host, and unsecured.
@MainActor final class CookieKeeper {
    private let options: CookieOptions
    private let storage: HTTPCookieStorage

    init(_ options: CookieOptions, _ storage: HTTPCookieStorage) throws(TransferFailure) {
        self.options = options
        self.storage = storage
        for path in options.files { try load(path) }
    }

    /// A file that is not there has no cookies yet.
    private func load(_ path: String) throws(TransferFailure) {
        let data: Data
        do throws(SystemFailure) {
            data =
                path == "-"
                ? try Descriptor.standardInput.readToEnd(limit: CookieText.sizeLimit)
                : try Descriptor.contents(of: path, limit: CookieText.sizeLimit)
        } catch {
            if error.isMissingFile { return }
            throw TransferFailure(.cannotRead, "--cookie-file: \(path): \(error.text)")
        }
        for cookie in CookieText.cookies(in: String(decoding: data, as: UTF8.self))
        where !options.skipsSessionCookies || !cookie.isSessionOnly {
            storage.setCookie(cookie)
        }
    }

    /// The group is over.
    func finish() throws(TransferFailure) {
        guard let path = options.jar else { return }
        do throws(SystemFailure) {
            let text = Data(CookieText.text(of: storage.cookies ?? []).utf8)
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
