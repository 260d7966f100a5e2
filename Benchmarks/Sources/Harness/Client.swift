package import Foundation

/// One way of loading.
package protocol Client: Sendable {
    /// Claims requests, at most `inFlight` at a time, until there are none left. May return before that.
    func load(_ url: URL, inFlight: Int, _ tally: Tally)
}
