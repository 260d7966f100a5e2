// Unchecked as its superclass.
/// A task that sends a body from memory, a file or a stream. It delivers its response like a data task.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
