import Foundation

/// Files with options in them.
enum TextFile {
    private static let sizeLimit = 1 << 20

    /// The lines of a file, without their ends; `-` is standard input.
    static func lines(of path: String, for name: String) throws(ArgumentError) -> [String] {
        let text = try contents(of: path, for: name)
        return text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(
            String.init
        )
    }

    /// The text of a file; `-` is standard input.
    static func contents(of path: String, for name: String) throws(ArgumentError) -> String {
        let data: Data
        do throws(SystemFailure) {
            data = try Descriptor.input(path, limit: sizeLimit)
        } catch {
            throw ArgumentError(code: .cannotRead, message: "\(name): \(path): \(error.text)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ArgumentError(code: .cannotRead, message: "\(name): \(path) is not UTF-8")
        }
        return text
    }
}
