import AFState
public import Foundation

extension HTTPCookieStorage {
    /// The public suffix list that this process uses: it names the domains under which other parties register names, so
    /// that no server may set cookies for them. Nil before the first cookie of the process, which makes the library
    /// read the list. Nil also if no list is installed (`apt-get install publicsuffix`): then built-in rules apply.
    public static var publicSuffixList: URL? {
        switch PublicSuffixSource.system.origin {
        case .builtIn: nil
        case .file(let path): URL(fileURLWithPath: path)
        }
    }

    /// The errors of the installed lists, if none could be read. Each list is tried once.
    public static var publicSuffixListFailures: [PublicSuffixFailure] { PublicSuffixSource.system.failures }

    /// Uses another public suffix list from now on, for all stores of the process. Each store drops the cookies that
    /// the list forbids when it is next used. Waits for the disk.
    ///
    /// Throws a ``/AFState/PublicSuffixFailure`` if the file is no complete list; then nothing changes.
    public static func usePublicSuffixList(at url: URL) throws {
        guard url.isFileURL else { throw PublicSuffixFailure(path: url.absoluteString, fault: .notAFileURL) }
        try PublicSuffixSource.system.replace(withFileAt: url.absoluteURL.path)
    }
}
