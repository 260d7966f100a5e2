/// Where a download goes on.
package enum ResumeOption: Sendable, Equatable {
    /// Behind what the output has already.
    case size
    case offset(Int64)
}
