internal import CAFOpenSSL
internal import Glibc

/// Where the system's authorities are.
package struct SystemTrustPaths: Hashable, Sendable {
    /// A PEM file.
    package let file: String
    /// Folders of hashed files, separated by colons as in OpenSSL.
    package let folder: String
    /// Whether the user named the file, so that it must be good.
    package let namesFile: Bool
    /// Whether the user named the folder, so that it is read beside the file.
    package let namesFolder: Bool

    /// OpenSSL's default places, unless the environment names others.
    package init(environment: (String) -> String? = { SystemTrustPaths.variable($0) }) {
        let file = environment("SSL_CERT_FILE")
        let folder = environment("SSL_CERT_DIR")
        self.file = file ?? Self.text(X509_get_default_cert_file())
        self.folder = folder ?? Self.text(X509_get_default_cert_dir())
        namesFile = file != nil
        namesFolder = folder != nil
    }

    /// A variable of the environment; nil if it is empty, and in a program with more rights than its user.
    package static func variable(_ name: String, isPrivileged: Bool = caf_is_privileged() != 0) -> String? {
        guard !isPrivileged else { return nil }
        return name.withCString { caf_environment($0) }.map { text($0) }
    }

    private static func text(_ characters: UnsafePointer<CChar>?) -> String {
        guard let characters else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: characters, count: strlen(characters)), as: UTF8.self)
    }
}
