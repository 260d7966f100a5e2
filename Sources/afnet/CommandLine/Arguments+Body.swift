/// What the options about the body add up to.
extension Arguments {
    /// Several `--data` are the fields of one form.
    mutating func addBody(_ addition: Body) throws(ArgumentError) {
        switch (body, addition) {
        case (nil, _): body = addition
        case (.form(let earlier), .form(let later)): body = .form(earlier + later)
        case (.json(let earlier), .json(let later)): body = .json(earlier + later)
        default: throw .usage("a request has one body: fields, a form, --json, --data-file or --upload-file")
        }
    }

    /// One of the fields of a form.
    mutating func addPiece(_ piece: BodyPiece) throws(ArgumentError) {
        switch (body, piece) {
        case (nil, .text(let text)): body = .text(text)
        case (.text(let earlier), .text(let later)): body = .text("\(earlier)&\(later)")
        case (.text(let earlier), _): body = .pieces([.text(earlier), piece])
        case (.pieces(let earlier), _): body = .pieces(earlier + [piece])
        default: try addBody(.pieces([piece]))
        }
    }

    /// `URL`, `URL;auto` or `;auto`
    mutating func setReferer(_ text: String) {
        refersToRedirects = text.hasSuffix(";auto")
        let url = refersToRedirects ? String(text.dropLast(5)) : text
        referer = url.isEmpty ? nil : url
    }
}
