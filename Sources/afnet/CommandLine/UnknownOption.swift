/// An option that afnet does not have, with the reason or the nearest name.
struct UnknownOption {
    let error: ArgumentError

    init(_ letter: Character) {
        let reason = CurlOptions.refusal(of: "-\(letter)").map {
            "-\(letter) is an option of curl that afnet refuses: \($0)"
        }
        error = .usage(reason ?? "there is no option -\(letter)")
    }

    /// - Parameter name: The long name without its dashes.
    init(_ name: String) {
        error = .usage(Self.reason(name))
    }

    private static func reason(_ name: String) -> String {
        // --name=value is no form of curl's.
        if let sign = name.firstIndex(of: "="), OptionTable.standard.named(String(name[..<sign])) != nil {
            return "there is no option --\(name): the value is a word of its own, --\(name[..<sign]) VALUE"
        }
        if let reason = CurlOptions.refusal(of: "--\(name)") {
            return "--\(name) is an option of curl that afnet refuses: \(reason)"
        }
        let positive = name.hasPrefix("no-") ? String(name.dropFirst(3)) : name
        if positive != name, OptionTable.standard[positive] != nil {
            return "--\(name): --\(positive) is no switch, and has no opposite"
        }
        let names = OptionTable.standard.options.flatMap(\.names)
        return "there is no option --\(name)"
            + (Nearest.name(to: name, among: names).map { "; did you mean --\($0)?" } ?? "")
    }
}
