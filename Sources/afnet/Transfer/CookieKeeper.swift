import AFURLSession
import Foundation

/// The cookies of one group: loads them, lends its extra ones, and writes the jar.
@MainActor final class CookieKeeper {
    private let options: CookieOptions
    private let storage: HTTPCookieStorage
    /// Of the command line, and not for the jar.
    private var extra: [HTTPCookie] = []

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

    /// With cookies on, those of the command line are cookies of the host like any other, for this group.
    func addExtra(for url: URL) throws(TransferFailure) {
        guard options.isOn else { return }
        for text in options.extra {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, url.host != nil,
                let cookie = HTTPCookie(properties: [
                    .originURL: url, .path: "/", .name: parts[0].trimmingCharacters(in: .whitespaces), .value: parts[1],
                ])
            else {
                throw TransferFailure(.badArgument, "--cookie: \"\(text)\" can be no cookie of \(url.host ?? "it")")
            }
            storage.setCookie(cookie)
            extra.append(cookie)
        }
    }

    /// The group is over.
    func finish() throws(TransferFailure) {
        let cookies = (storage.cookies ?? []).filter { !extra.contains($0) }
        for cookie in extra { storage.deleteCookie(cookie) }
        guard let path = options.jar else { return }
        do throws(SystemFailure) {
            let text = Data(CookieText.text(of: cookies).utf8)
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
