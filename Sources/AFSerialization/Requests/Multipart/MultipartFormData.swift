public import Foundation

/// A multipart form that is being made.
///
/// Use it only within the block that receives it, on that block's thread. Parts are sent in the order in which they are
/// appended. What cannot be sent, such as a header field with a line break, fails the request that is being made, also
/// where the method itself does not throw. Quotes and control characters in names and file names are sent as `%XX`, as
/// browsers do, and of file names with folders only the last part.
public protocol MultipartFormData: AnyObject {
    /// Appends a file. Its name and type are those of the URL.
    ///
    /// - Parameters:
    ///   - fileURL: A file that can be read, and stays as it is until the request is done.
    ///   - name: The name of the field.
    func appendPart(withFileURL fileURL: URL, name: String) throws

    /// Appends a file, which is read while the form is sent.
    ///
    /// Its length is taken now. A file that has another length when it is sent, or is written to meanwhile, fails the
    /// task.
    ///
    /// - Throws: -1000 of ``HTTPRequestSerializer/errorDomain`` if it is no file or not there, or the error of the
    ///   file system. Nothing is appended then.
    func appendPart(withFileURL fileURL: URL, name: String, fileName: String, mimeType: String) throws

    /// Appends the bytes of a stream, under the name of a file.
    ///
    /// A stream can be read only once. A request that has to be sent again, for a redirect or because of a challenge,
    /// fails with an error that says so: use a file or data where that may happen.
    ///
    /// - Parameters:
    ///   - inputStream: The stream, which the form owns from now on.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file.
    ///   - length: How many bytes the stream has. Any other number fails the task.
    ///   - mimeType: The type of the content.
    func appendPart(
        withInputStream inputStream: InputStream?,
        name: String,
        fileName: String,
        length: Int64,
        mimeType: String
    )

    /// Appends data under the name of a file.
    func appendPart(withFileData data: Data, name: String, fileName: String, mimeType: String)

    /// Appends data as the value of a field.
    func appendPart(withFormData data: Data, name: String)

    /// Appends data with header fields of your own.
    func appendPart(withHeaders headers: [String: String]?, body: Data)

    /// Sends the form in packets of this many bytes, one for each delay.
    ///
    /// That is `numberOfBytes / delay` bytes in a second, evenly: it becomes `URLRequest.maximumBytesSentPerSecond` of
    /// the request, so that no thread has to sleep and copies of the request are throttled too. A read of the body
    /// stream returns at most one packet. Without a delay nothing else is limited.
    func throttleBandwidth(withPacketSize numberOfBytes: UInt, delay: TimeInterval)
}

extension MultipartFormData {
    /// The same as ``appendPart(withInputStream:name:fileName:length:mimeType:)``.
    public func appendPart(
        with inputStream: InputStream?,
        name: String,
        fileName: String,
        length: Int64,
        mimeType: String
    ) {
        appendPart(withInputStream: inputStream, name: name, fileName: fileName, length: length, mimeType: mimeType)
    }

    /// The same as ``appendPart(withFormData:name:)``.
    public func appendPart(withForm data: Data, name: String) {
        appendPart(withFormData: data, name: name)
    }
}
