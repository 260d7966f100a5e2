import Foundation

/// The pages about what afnet has of curl's command line.
extension HelpTopic {
    static let urls = HelpTopic(
        .urls,
        text: """
            A URL without a scheme is one of http. Lists stand for several URLs, and #1 in
            the name of -o is the word that the first list has there:

                afnet localhost:8080/health
                afnet -o 'page-#1-#2.html' 'https://example.com/{en,de}/[01-20]'
                afnet -O 'https://example.com/[1-100:10].txt' 'https://example.com/[a-z].txt'

            The last list changes fastest. -g takes signs as they are, and so does a
            backslash in front of one.

            Letters beyond ASCII are sent as UTF-8 in percent, and in a host as IDNA says.
            What else a URL may not have, a blank for instance, is an error. . and .. are
            taken out of the path, unless --path-as-is leaves them.

                afnet --url-query 'q=one & two' https://example.com/search
                afnet --proto '=https' -fsSL https://example.com/install.sh

            --proto holds for redirects, too; --proto-redir is for them alone. A + adds to
            a list, - takes away, = begins anew, and all is http and https.

            """
    )

    static let config = HelpTopic(
        .config,
        text: """
            A file for -K has an option on each line, with or without its dashes, and its
            value behind a blank, a colon or an equals sign:

                # how we load
                url = "https://example.com/"
                header: "Accept: text/css"
                -o page.html
                silent

            A value with a blank in it stands in double quotes, where \\", \\\\, \\t, \\n, \\r
            and \\v are what they are elsewhere. A line with # in front says nothing. A
            line that cannot be read is an error, and nothing is sent.

            ~/.afnetrc is such a file, for the first group of each run that loads URLs,
            unless the first option is -q. curl's own file, ~/.curlrc, is not read: it may
            have options that afnet refuses. -K ~/.curlrc does that.

            --stderr, --config and -q stand in no group: they are for all of them.

            """
    )

    static let curl = HelpTopic(
        .curl,
        addition: curlOptions,
        text: """
            A name that curl has means here what it means in curl. What afnet does not have
            is an error that says why. --no- in front of a switch is its opposite, as in
            --no-location; --buffer is that of --no-buffer.

            """
    )

    private static var curlOptions: String {
        let rows = CurlOptions.rows
        let had = rows.filter { $0.refusal == nil }.map(\.spelling)
        var reasons: [String] = []
        var names: [String: [String]] = [:]
        for row in rows {
            guard let refusal = row.refusal else { continue }
            if names[refusal] == nil { reasons.append(refusal) }
            names[refusal, default: []].append(row.spelling.components(separatedBy: ", ").last ?? "")
        }
        let refused = reasons.map { reason in
            let heading = HelpText.wrapped("Refused: \(reason)", indent: 0).joined(separator: "\n")
            return "\(heading)\n\(list(names[reason] ?? []))\n"
        }
        return "\nHad:\n\(list(had))\n\n" + refused.joined(separator: "\n")
    }

    private static func list(_ words: [String]) -> String {
        var lines = [" "]
        for word in words {
            if (lines.last ?? "").count + word.count + 2 > 79 { lines.append(" ") }
            lines[lines.count - 1] += " " + word.replacing(", ", with: ",")
        }
        return lines.joined(separator: "\n")
    }
}
