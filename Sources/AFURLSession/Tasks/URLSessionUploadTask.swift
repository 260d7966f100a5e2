// Unchecked as its superclass.
/// A task that sends a body, from memory, a file or a stream, and whose response is
/// delivered like that of a data task.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
