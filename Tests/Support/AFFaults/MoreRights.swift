import CAFTestSupport

/// What a program has that was started with more rights than its user: set-user-ID, or capabilities of its file.
package enum MoreRights {
    /// The process passes for such a program until it ends.
    package static func claim() { caft_claim_more_rights() }
}
