import AFURLSession
import Foundation
import Glibc

/// The options `--netrc`, `--netrc-optional` and `--netrc-file`.
package struct NetrcOption: Sendable, Equatable {
    /// Nil for `.netrc` in the home folder.
    package internal(set) var path: String?
    /// Whether the file must be there.
    package internal(set) var isNeeded = true

    /// What the file has; nil if it is not there and need not be.
    func contents() throws(TransferFailure) -> NetrcFile? {
        let file = path ?? (Environment.value(of: "HOME") ?? NSHomeDirectory()) + "/.netrc"
        if !isNeeded, access(file, F_OK) == -1 { return nil }
        do throws(NetrcError) {
            return try NetrcFile(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw TransferFailure(.cannotRead, "--netrc: \(error)")
        }
    }
}

extension Login {
    /// What a URL says, with the password of the file if it says none.
    init?(of components: URLComponents?, or netrc: NetrcFile?) {
        let told = Login(of: components)
        if told?.password.isEmpty ?? true, let url = components?.url, let credential = netrc?.credential(for: url) {
            self.init(user: credential.user ?? "", password: credential.password ?? "")
        } else if let told {
            self = told
        } else {
            return nil
        }
    }
}
