import CAFLinux

/// The environment of this process. A program that runs with more rights than the user who started it takes no
/// directions from there.
package enum ProcessVariables {
    /// Nil if it is not set, empty if it is not UTF-8.
    package static func text(of name: String) -> String? {
        caf_variable(name).map { String(validatingCString: $0) ?? "" }
    }

    /// Those of the names that are set and UTF-8. Foundation's dictionary of all of them costs a quarter of a
    /// millisecond.
    package static func values(of names: [String]) -> [String: String] {
        var values: [String: String] = [:]
        for name in names {
            if let value = caf_variable(name) { values[name] = String(validatingCString: value) }
        }
        return values
    }
}
