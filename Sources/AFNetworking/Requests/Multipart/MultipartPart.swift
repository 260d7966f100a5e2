import Foundation

/// One part of a form.
struct MultipartPart: Sendable {
    enum Source: Sendable {
        case data(Data)
        case file(MultipartSourceFile)
        case stream(MultipartSourceStream)
    }

    let head: MultipartHead
    let source: Source
    /// What was announced, and must come.
    let length: Int64

    init(_ head: MultipartHead, _ source: Source, length: Int64) {
        self.head = head
        self.source = source
        self.length = length
    }

    /// For errors.
    var description: String { head.name.map { "the part \"\($0)\"" } ?? "a part of the form" }
}
