internal import CAFOpenSSL

/// The typed names in a certificate's subject alternative name extension.
enum AlternativeNames {
    /// How many are looked at; the rest of a longer list does not exist for us.
    static let limit = 10_000

    /// Calls `body` for each until it answers false. The bytes are gone afterwards.
    static func visit(_ certificate: OpaquePointer, body: (caf_general_name) -> Bool) {
        guard let names = caf_alternative_names(certificate) else {
            // Unreadable names leave errors behind that another call would take for its own.
            ERR_clear_error()
            return
        }
        defer { caf_general_names_free(names) }
        for index in 0..<min(caf_general_name_count(names), Int32(limit)) {
            guard body(caf_general_name_at(names, index)) else { return }
        }
    }
}
