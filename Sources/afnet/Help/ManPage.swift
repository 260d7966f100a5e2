import AFBase

/// The manual page, in the language of roff, made from the same tables as the help.
enum ManPage {
    static var text: String {
        var lines = [
            ".TH AFNET 1 \"\" \"afnet \(PackageVersion.current)\" \"User Commands\"",
            ".SH NAME", plain("afnet - load URLs over HTTP/1.1, with pins"),
            ".SH SYNOPSIS", ".nf", plain("afnet [get] [options] URL [URL ...] [--next [options] URL ...]"),
        ]
        lines += HelpTopic.commands.map { plain("afnet \($0.usage ?? $0.name.rawValue)") }
        lines += [".fi", ".SH OPTIONS"]
        for section in OptionTable.standard.sections {
            lines.append(".SS \(plain(section.title))")
            for option in section.options { lines += [".TP", ".B \(plain(option.spelling))", plain(option.text)] }
        }
        for topic in HelpTopic.all where topic.name != .exitCodes {
            lines += [".SH \(plain(topic.name.rawValue.uppercased()))", ".nf"]
            // The last line end closes the last line.
            lines += (topic.text + (topic.addition ?? "")).split(separator: "\n", omittingEmptySubsequences: false)
                .dropLast().map { plain(String($0)) }
            lines.append(".fi")
        }
        lines.append(".SH EXIT STATUS")
        for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", plain(code.meaning)] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Text in which roff finds no requests, no escapes and no typographic dashes and quotes.
    private static func plain(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
            .replacing("`", with: "\\(ga").replacing("^", with: "\\(ha").replacing("~", with: "\\(ti")
        return escaped.hasPrefix(".") ? "\\&\(escaped)" : escaped
    }
}
