import AFURLTypes
import AFWire
import Foundation

/// Reads the lines of one body.
struct LineReader {
    private let reader: ByteReader
    private var splitter: LineSplitter
    private var piece: StreamPiece?
    private var used = 0
    /// How the caller can raise the limit.
    private let advice: String
    private let limit: Int

    /// - Parameter limit: The longest line in bytes. Less than 0 means 0.
    init(source: ByteSource, limit: Int, advice: String) {
        reader = ByteReader(source)
        self.limit = max(limit, 0)
        splitter = LineSplitter(limit: self.limit)
        self.advice = advice
    }

    /// The bytes of the next line, in any form; nil at the end.
    mutating func next<Line>(
        _ actor: isolated (any Actor)?,
        form: ([UInt8]) throws -> Line
    ) async throws -> Line? {
        while true {
            if let line = try lineOfPiece(form) { return line }
            piece = try await reader.source.next()
            used = 0
            if piece == nil { return try splitter.finish(form) }
        }
    }

    private mutating func lineOfPiece<Line>(_ form: ([UInt8]) throws -> Line) throws -> Line? {
        guard let piece else { return nil }
        let bytes = piece.bytes
        var rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
        do {
            let line = try splitter.next(&rest, form: form)
            used = bytes.count - rest.count
            return line
        } catch is LineSplitter.TooLong {
            let failure = ClientFailure.lineTooLong(limit: limit, advice: advice)
            throw failure.urlError(for: reader.source.task.originalRequest?.url)
        }
    }
}
