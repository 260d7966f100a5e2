package import Foundation

/// Pictures as kitty, and terminals after it, draw them: files in escape sequences.
package enum KittyGraphics {
    /// The longest piece that a terminal takes.
    private static let pieceSize = 4096

    /// - Parameters:
    ///   - png: A file.
    ///   - columns: How many columns of text it covers.
    package static func text(png: Data, columns: Int) -> String {
        let code = png.base64EncodedString()
        var text = ""
        var rest = code.utf8[...]
        var keys = "a=T,f=100,c=\(columns),q=2,"
        repeat {
            let piece = rest.prefix(pieceSize)
            rest = rest.dropFirst(piece.count)
            text += "\u{1B}_G\(keys)m=\(rest.isEmpty ? 0 : 1);\(String(decoding: piece, as: UTF8.self))\u{1B}\\"
            keys = ""
        } while !rest.isEmpty
        return text + "\n"
    }
}
