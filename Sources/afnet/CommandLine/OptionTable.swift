/// All options, in the sections of the help.
struct OptionTable: Sendable {
    struct Section: Sendable {
        let title: String
        /// The topic of the help about these options, if there is one.
        let topic: HelpTopicName?
        let options: [CommandOption]
    }

    static let standard = OptionTable([
        Section(title: "The request", topic: .bodies, options: CommandOption.request),
        Section(title: "URLs", topic: .urls, options: CommandOption.addresses),
        Section(title: "Its body", topic: .bodies, options: CommandOption.bodies),
        Section(title: "Credentials", topic: .login, options: CommandOption.login),
        Section(title: "Cookies", topic: .cookies, options: CommandOption.cookies),
        Section(title: "The response", topic: .output, options: CommandOption.response),
        Section(title: "Redirects and retries", topic: .retries, options: CommandOption.repetition),
        Section(title: "The cache", topic: .cache, options: CommandOption.cache),
        Section(title: "Connections", topic: .transfers, options: CommandOption.connection + CommandOption.places),
        Section(title: "Proxies", topic: .proxies, options: CommandOption.proxies),
        Section(title: "Certificates and pins", topic: .tls, options: CommandOption.security),
        Section(title: "Several URLs", topic: .parallel, options: CommandOption.order),
        Section(title: "Single commands", topic: nil, options: CommandOption.commands),
        Section(title: "Messages, and options from a file", topic: .config, options: CommandOption.words),
        Section(title: "Taken because scripts of curl have them", topic: .curl, options: CommandOption.idle),
    ])

    let sections: [Section]
    let options: [CommandOption]
    private let byName: [String: CommandOption]
    /// The place of the option of each ASCII letter.
    private let byLetter: [Int?]

    init(_ sections: [Section]) {
        self.sections = sections
        options = sections.flatMap(\.options)
        var byName: [String: CommandOption] = [:]
        var byLetter = [Int?](repeating: nil, count: 128)
        for (place, option) in options.enumerated() {
            for name in option.names { byName[name] = option }
            if let letter = option.letter?.asciiValue { byLetter[Int(letter)] = place }
        }
        self.byName = byName
        self.byLetter = byLetter
    }

    subscript(name: String) -> CommandOption? { byName[name] }

    /// A long name without its dashes, which may be that of a switch with `no-` in front.
    func named(_ name: String) -> (option: CommandOption, isOn: Bool)? {
        if let option = byName[name] { return (option, true) }
        let opposite = name.hasPrefix("no-") ? String(name.dropFirst(3)) : "no-\(name)"
        guard let option = byName[opposite], option.isSwitch else { return nil }
        return (option, false)
    }

    subscript(letter: Character) -> CommandOption? {
        letter.asciiValue.flatMap { byLetter[Int($0)] }.map { options[$0] }
    }
}

/// The names of all options, long names and letters with their dashes, for tests.
package enum OptionNames {
    package static let all = OptionTable.standard.options.flatMap { option in
        (option.letter.map { ["-\($0), "] } ?? []) + option.names.map { "--\($0)" }
    }
}
