import AFURLSession
import Foundation
import Glibc

/// Reads lines, each as soon as it is complete.
struct InputLines {
    private let source: Descriptor
    private let longest: Int
    private var waiting = Data()
    private var isAtEnd = false

    init(source: Descriptor, longest: Int) {
        self.source = source
        self.longest = longest
    }

    /// The next line, without its line break; nil at the end.
    mutating func next() throws(SystemFailure) -> Data? {
        var searched = waiting.startIndex
        while true {
            if let end = waiting[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { waiting = Data(waiting[end...].dropFirst()) }
                return waiting[..<end]
            }
            searched = waiting.endIndex
            if isAtEnd {
                defer { waiting = Data() }
                return waiting.isEmpty ? nil : waiting
            }
            if waiting.count > longest { throw SystemFailure(code: EFBIG) }
            let more = try source.readSome()
            isAtEnd = more.isEmpty
            waiting += more
        }
    }
}
