import Foundation

/// The streams of a connection, on their way to the delegate.
// Unchecked: two threads must not use a stream. The delegate that takes them is the first to use them.
struct HandedStreams: @unchecked Sendable {
    let input: InputStream
    let output: OutputStream
}
