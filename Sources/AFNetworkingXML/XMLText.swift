import Foundation

/// XML, converted to UTF-8.
///
/// At bytes that are not valid in the encoding it assumes, libxml2 goes on and reports names that are not UTF-8, at
/// which Foundation's parser ends the process. So text is validated and converted first. This also keeps markup from
/// hiding in an encoding that only libxml2 knows.
struct XMLText {
    /// Valid UTF-8, declared as UTF-8 or not at all.
    let data: Data

    /// Takes a body in the encoding that its byte order mark or its declaration says; UTF-8 if none does.
    ///
    /// - Returns: Nil if it is not valid in that encoding, if the encoding is not supported, or if the declaration is
    ///   malformed.
    init?(_ body: Data) {
        let (encoding, mark) = UnicodeEncoding.detect(in: body)
        let bytes = body.dropFirst(mark)
        if encoding != .utf8 || mark > 0 {
            guard let text = encoding.string(bytes), let declaration = XMLDeclaration(Data(text.utf8)) else {
                return nil
            }
            data = declaration.text(inUTF8: Data(text.utf8))
            return
        }
        guard let declaration = XMLDeclaration(body), let encoding = Self.encodings[declaration.encoding ?? "utf-8"],
            let text = encoding == .utf8 ? UnicodeEncoding.utf8.string(body) : String(data: body, encoding: encoding)
        else { return nil }
        data = declaration.text(inUTF8: Data(text.utf8))
    }

    private static let encodings: [String: String.Encoding] = [
        "utf-8": .utf8, "us-ascii": .utf8, "ascii": .utf8, "iso-8859-1": .isoLatin1, "latin1": .isoLatin1,
        "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251,
        "windows-1252": .windowsCP1252, "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        "macintosh": .macOSRoman, "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP,
    ]
}
