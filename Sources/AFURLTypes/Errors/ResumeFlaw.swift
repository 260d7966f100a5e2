/// Why data is not resume data.
package enum ResumeFlaw: Error, Hashable, Sendable {
    case notResumeData
    /// The second version is the one that is read.
    case otherVersion(UInt8, read: UInt8)
    case tooLong(limit: Int)
    case damaged
}
