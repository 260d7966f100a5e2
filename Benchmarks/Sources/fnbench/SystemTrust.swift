import Foundation

/// The only certificates that FoundationNetworking trusts on Linux: those of the system.
enum SystemTrust {
    private static let bundle = "/etc/ssl/certs/ca-certificates.crt"

    static func consists(of path: String) -> Bool {
        guard let wanted = FileManager.default.contents(atPath: path) else { return false }
        return FileManager.default.contents(atPath: bundle) == wanted
    }

    static func advice(_ path: String) -> String {
        """
        FoundationNetworking trusts \(bundle) only, and that is not \(path). As root, run this program where it is: \
        unshare -m --propagation private sh -c 'mount --bind \(path) \(bundle) && exec fnbench ...'
        """
    }
}
