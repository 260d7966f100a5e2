/// Where the body of a URL goes.
package enum OutputTarget: Sendable, Equatable {
    /// A file; `-` is standard output.
    case path(String)
    /// A file with the last name of the URL's path, or the name that the server gives.
    case remoteName
}

extension Arguments {
    /// The paths among the targets.
    package var outputs: [String] {
        targets.compactMap { if case .path(let path) = $0 { path } else { nil } }
    }

    /// - Parameter index: of the URL in its group.
    func target(at index: Int) -> OutputTarget {
        index < targets.count ? targets[index] : namesAll ? .remoteName : .path("-")
    }
}
