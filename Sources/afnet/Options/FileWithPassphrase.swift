import AFURLSession

/// The name of a file, and perhaps a passphrase behind the first colon; `\:` is a colon of the name.
struct FileWithPassphrase {
    let path: String
    let passphrase: String?

    init(_ text: String) {
        var path = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == ":" { break }
            if character == "\\", let next = rest.first, next == ":" || next == "\\" {
                path.append(next)
                rest.removeFirst()
            } else {
                path.append(character)
            }
        }
        self.path = path
        passphrase = rest.isEmpty ? nil : String(rest)
    }
}
