/// How progress is shown.
package enum ProgressStyle: Sendable {
    /// A bar with sizes, the rate, and the time that is left.
    case full
    /// A bar and nothing else.
    case plain
    case none
}
