import AFImages
package import Foundation

/// The graphics protocol of kitty and other terminals: PNG files in escape sequences.
package enum KittyGraphics {
    /// The largest piece that the protocol allows.
    private static let pieceSize = 4096

    /// - Parameters:
    ///   - png: A PNG file.
    ///   - columns: How many columns of text the image covers.
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
