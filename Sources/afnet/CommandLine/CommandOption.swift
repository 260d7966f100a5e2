/// One option: its spelling, its text in the help, the commands that take it, and its effect.
///
/// The parser, the help and the completions read the same table, so that they cannot disagree.
struct CommandOption: Sendable {
    typealias Effect = @Sendable (inout Arguments, Occurrence) throws -> Void

    /// An option on the command line.
    struct Occurrence {
        let value: String
        /// As the user wrote it: `-o` or `--output`.
        let name: String
        /// False for the name of a switch behind `--no-`.
        var isOn = true
    }

    /// The commands that take options.
    struct Commands: OptionSet {
        let rawValue: Int

        static let transfer = Commands(rawValue: 1)
        static let pins = Commands(rawValue: 2)
        static let images = Commands(rawValue: 4)
        static let lint = Commands(rawValue: 8)
        static let reach = Commands(rawValue: 16)
        static let serve = Commands(rawValue: 32)
        static let events = Commands(rawValue: 64)
        static let ws = Commands(rawValue: 128)

        static let loading: Commands = [.transfer, .images, .events, .ws]
        static let asking: Commands = [.transfer, .events]
        static let every: Commands = [.transfer, .pins, .images, .lint, .reach, .serve, .events, .ws]
    }

    /// What a shell completes after the option.
    enum Completion: Sendable, Equatable {
        case nothing
        case files
        case folders
        case words([String])

        /// - Parameter name: The name of the value in the help.
        init(ofValue name: String?) {
            switch name {
            case "PATH", "FILE", "POLICY": self = .files
            case "DIR": self = .folders
            default: self = .nothing
            }
        }
    }

    /// The spelling in the help: `-o, --output PATH`.
    let spelling: String
    let letter: Character?
    /// The long names without their dashes; messages use the first.
    let names: [String]
    /// The name of the value in the help; nil for an option without a value.
    let valueName: String?
    let text: String
    let commands: Commands
    let completion: Completion
    let secret: Secret
    /// Whether the name behind `--no-` means the opposite.
    let isSwitch: Bool
    let effect: Effect

    init(
        _ spelling: String,
        help text: String,
        for commands: Commands = .transfer,
        completing completion: Completion? = nil,
        hiding secret: Secret = .nothing,
        isSwitch: Bool = false,
        effect: @escaping Effect
    ) {
        self.spelling = spelling
        self.isSwitch = isSwitch
        self.text = text
        self.secret = secret
        self.commands = commands
        self.effect = effect
        // Byte by byte: of some two hundred options a run looks at one or two.
        var names: [String] = []
        var letter: Character?
        var rest = spelling.utf8[...]
        while true {
            let word = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: " ") }
            if word.dropFirst().first == UInt8(ascii: "-") {
                names.append(String(Substring(word.dropFirst(2))))
            } else {
                letter = letter ?? Substring(word).last
            }
            rest = rest.dropFirst(word.count)
            guard rest.first == UInt8(ascii: ",") else { break }
            rest = rest.dropFirst(2)
        }
        self.names = names
        self.letter = letter
        valueName = rest.isEmpty ? nil : String(Substring(rest.dropFirst()))
        self.completion = completion ?? Completion(ofValue: valueName)
    }

    /// The name in messages: `--output`.
    var name: String { "--\(names[0])" }

    var takesValue: Bool { valueName != nil }

    /// A flag that has an opposite: the name behind `--no-`.
    ///
    /// - Parameter effect: Gets whether the flag is on.
    static func toggle(
        _ spelling: String,
        help text: String,
        for commands: Commands = .transfer,
        effect: @escaping @Sendable (inout Arguments, Bool) throws -> Void
    ) -> CommandOption {
        CommandOption(spelling, help: text, for: commands, isSwitch: true) { arguments, given in
            try effect(&arguments, given.isOn)
        }
    }

    /// A switch for a scheme of credentials. Switched off, what holds unless another is named is basic.
    static func scheme(
        _ name: String,
        picking scheme: LoginScheme,
        in path: any WritableKeyPath<Arguments, LoginScheme> & Sendable,
        of choice: String = "--auth"
    ) -> CommandOption {
        .toggle(name, help: "\(choice) \(scheme.rawValue)", for: .loading) { arguments, isOn in
            if isOn {
                arguments[keyPath: path] = scheme
            } else if arguments[keyPath: path] == scheme {
                arguments[keyPath: path] = .basic
            }
        }
    }

    /// A flag without an opposite.
    static func flag(
        _ spelling: String,
        help text: String,
        for commands: Commands = .transfer,
        effect: @escaping @Sendable (inout Arguments) throws -> Void
    ) -> CommandOption {
        CommandOption(spelling, help: text, for: commands) { arguments, _ in try effect(&arguments) }
    }

    /// An option that takes one of some words.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ spelling: String,
        help text: String,
        for commands: Commands = .transfer,
        effect: @escaping @Sendable (inout Arguments, Choice) -> Void
    ) -> CommandOption {
        CommandOption(
            spelling,
            help: text,
            for: commands,
            completing: .words(Choice.allCases.map(\.rawValue))
        ) { arguments, given in
            effect(&arguments, try Arguments.choice(given.value, of: given.name))
        }
    }
}
