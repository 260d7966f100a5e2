/// Scripts with which shells complete the options, made from the table of options.
package struct Completions {
    package let text: String

    init(named name: String) throws(TransferFailure) {
        guard let shell = Shell(rawValue: name) else {
            throw TransferFailure(.usage, "completion knows \(Shell.list), not \"\(name)\"")
        }
        text =
            switch shell {
            case .bash: Self.bash
            case .zsh: Self.zsh
            case .fish: Self.fish
            }
    }

    private static var options: [CommandOption] { OptionTable.standard.options }

    private static var commands: [String] { HelpTopic.commands.map(\.name.rawValue) + ["help"] }

    private static var topics: String { HelpTopicName.allCases.map(\.rawValue).joined(separator: " ") }

    /// The spellings with their dashes.
    private static func spellings(_ option: CommandOption) -> [String] {
        (option.letter.map { ["-\($0)"] } ?? []) + option.names.map { "--\($0)" }
    }

    // MARK: bash

    private static var bash: String {
        let words = (options.flatMap(spellings) + ["--next"]).joined(separator: " ")
        let cases = options.filter(\.takesValue).map { option in
            let patterns = spellings(option).joined(separator: "|")
            switch option.completion {
            case .files: return "        \(patterns)) _afnet_paths -f; return ;;"
            case .folders: return "        \(patterns)) _afnet_paths -d; return ;;"
            case .words(let words):
                let list = words.joined(separator: " ")
                return "        \(patterns)) COMPREPLY=($(compgen -W \"\(list)\" -- \"$word\")); return ;;"
            case .nothing: return "        \(patterns)) return ;;"
            }
        }
        return """
            _afnet_paths() {
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
            }
            _afnet() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
                COMPREPLY=()
                case $before in
            \(cases.joined(separator: "\n"))
                    help) [[ $COMP_CWORD == 2 ]] && { COMPREPLY=($(compgen -W "\(topics)" -- "$word")); return; } ;;
                    completion) [[ $COMP_CWORD == 2 ]] && { COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return; } ;;
                esac
                if [[ $word == -* ]]; then
                    COMPREPLY=($(compgen -W "\(words)" -- "$word"))
                elif [[ $COMP_CWORD == 1 ]]; then
                    COMPREPLY=($(compgen -W "\(commands.joined(separator: " "))" -- "$word"))
                elif [[ ${COMP_WORDS[1]} == @(pins|lint|serve) ]]; then
                    _afnet_paths -f
                fi
            }
            complete -F _afnet afnet

            """
    }

    // MARK: zsh

    private static var zsh: String {
        let rows = options.flatMap { option in
            spellings(option).map { "    '*\($0)[\(zshText(option.text))]\(zshValue(option))'" }
        }
        return """
            #compdef afnet
            _arguments -s \\
            \(rows.joined(separator: " \\\n")) \\
                '1:command or URL:(\(commands.joined(separator: " ")))' \\
                '*:file:_files'

            """
    }

    private static func zshValue(_ option: CommandOption) -> String {
        guard option.takesValue else { return "" }
        switch option.completion {
        case .files: return ":file:_files"
        case .folders: return ":folder:_files -/"
        case .words(let words): return ":word:(\(words.joined(separator: " ")))"
        case .nothing: return ":value: "
        }
    }

    /// Escaped for brackets inside of single quotes.
    private static func zshText(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:").replacing("'", with: "'\\''")
    }

    // MARK: fish

    private static var fish: String {
        let rows = options.map { option in
            let letter = option.letter.map { " -s \(fishText("\($0)"))" } ?? ""
            let names = option.names.map { " -l \($0)" }.joined()
            return "complete -c afnet\(letter)\(names)\(fishValue(option)) -d \(fishText(option.text))"
        }
        let list = fishText(commands.joined(separator: " "))
        return """
            complete -c afnet -n __fish_use_subcommand -a \(list)
            complete -c afnet -n '__fish_seen_subcommand_from help' -f -a \(fishText(topics))
            complete -c afnet -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
            \(rows.joined(separator: "\n"))

            """
    }

    private static func fishValue(_ option: CommandOption) -> String {
        guard option.takesValue else { return "" }
        switch option.completion {
        case .files: return " -r -F"
        case .folders: return " -x -a '(__fish_complete_directories)'"
        case .words(let words): return " -x -a \(fishText(words.joined(separator: " ")))"
        case .nothing: return " -x"
        }
    }

    private static func fishText(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
