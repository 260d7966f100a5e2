import AFNetworking
import Foundation
import Glibc

/// A page with the names in a folder.
enum FolderListing {
    /// How many names a page has at most.
    private static let limit = 10_000

    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - path: The path of the request, which ends in a slash.
    static func page(of folder: String, at path: String) -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let shown = path.removingPercentEncoding ?? path
        let rows = names.sorted().prefix(limit).map { row($0, in: folder) }
        let rest = names.count > limit ? ["<li>and \(names.count - limit) more"] : []
        let up = path == "/" ? [] : ["<li><a href=\"../\">../</a>"]
        return """
            <!DOCTYPE html>
            <meta charset="utf-8">
            <title>\(escaped(shown))</title>
            <h1>\(escaped(shown))</h1>
            <ul>
            \((up + rows + rest).joined(separator: "\n"))
            </ul>

            """
    }

    private static func row(_ name: String, in folder: String) -> String {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
        let slash = isFolder.boolValue ? "/" : ""
        return "<li><a href=\"./\(encoded(name))\(slash)\">\(escaped(name))\(slash)</a>"
    }

    private static func encoded(_ name: String) -> String {
        var allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        allowed.insert(charactersIn: "0123456789-._~")
        return name.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
