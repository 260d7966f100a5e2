/// All options, in the sections of the help.
struct OptionTable: Sendable {
    struct Section: Sendable {
        let title: String
        /// The topic of the help about these options, if there is one.
        let topic: HelpTopicName?
        let options: [CommandOption]

        init(_ title: String, _ topic: HelpTopicName?, _ options: [CommandOption]) {
            self.title = title
            self.topic = topic
            self.options = options
        }
    }

    static let standard = OptionTable([
        Section("The request", .bodies, CommandOption.request),
        Section("URLs", .urls, CommandOption.addresses),
        Section("Its body", .bodies, CommandOption.bodies),
        Section("Credentials", .login, CommandOption.login),
        Section("Cookies", .cookies, CommandOption.cookies),
        Section("The response", .output, CommandOption.response),
        Section("Redirects and retries", .retries, CommandOption.repetition),
        Section("The cache", .cache, CommandOption.cache),
        Section("Connections", .transfers, CommandOption.connection + CommandOption.places),
        Section("Proxies", .proxies, CommandOption.proxies),
        Section("Certificates and pins", .tls, CommandOption.security),
        Section("Several URLs", .parallel, CommandOption.order),
        Section("Single commands", nil, CommandOption.commands),
        Section("Messages, and options from a file", .config, CommandOption.words),
        Section("Taken because scripts of curl have them", .curl, CommandOption.idle),
    ])

    let sections: [Section]
    private let byName: [String: CommandOption]
    private let byLetter: [Character: CommandOption]

    init(_ sections: [Section]) {
        self.sections = sections
        var byName: [String: CommandOption] = [:]
        var byLetter: [Character: CommandOption] = [:]
        for option in sections.flatMap(\.options) {
            for name in option.names { byName[name] = option }
            if let letter = option.letter { byLetter[letter] = option }
        }
        self.byName = byName
        self.byLetter = byLetter
    }

    var options: [CommandOption] { sections.flatMap(\.options) }

    subscript(name: String) -> CommandOption? { byName[name] }

    /// A long name without its dashes, which may be that of a switch with `no-` in front.
    func named(_ name: String) -> (option: CommandOption, isOn: Bool)? {
        if let option = byName[name] { return (option, true) }
        let opposite = name.hasPrefix("no-") ? String(name.dropFirst(3)) : "no-\(name)"
        guard let option = byName[opposite], option.isSwitch else { return nil }
        return (option, false)
    }

    subscript(letter: Character) -> CommandOption? { byLetter[letter] }
}

/// The names of all options, long names and letters with their dashes, for tests.
package enum OptionNames {
    package static let all = OptionTable.standard.options.flatMap { option in
        (option.letter.map { ["-\($0), "] } ?? []) + option.names.map { "--\($0)" }
    }
}
