public import Foundation

// The raw values are those of AFNetworking: programs compare and log them.

extension Notification.Name {
    /// A task of a ``URLSessionManager`` runs, for the first time or again. The object is the task.
    ///
    /// Posted on the main queue.
    public static let networkingTaskDidResume = Notification.Name("com.alamofire.networking.task.resume")

    /// A task of a ``URLSessionManager`` was suspended, or has become a download. In that case
    /// `networkingTaskDidResume` follows with the download. The object is the task.
    ///
    /// Posted on the main queue.
    public static let networkingTaskDidSuspend = Notification.Name("com.alamofire.networking.task.suspend")

    /// A task of a ``URLSessionManager`` has completed, and its completion handler has returned. The object is the task.
    ///
    /// Posted on the main queue. The keys of the user info are the constants whose names begin with
    /// `NetworkingTaskDidComplete`.
    public static let networkingTaskDidComplete = Notification.Name("com.alamofire.networking.task.complete")

    /// The session of a ``URLSessionManager`` has become invalid. The object is the session.
    ///
    /// Posted on the manager's ``URLSessionManager/operationQueue``.
    public static let urlSessionDidInvalidate = Notification.Name("com.alamofire.networking.session.invalidate")

    /// The manager has moved a downloaded file to its destination. The object is the download task.
    ///
    /// Posted on the manager's ``URLSessionManager/operationQueue``.
    public static let urlSessionDownloadTaskDidMoveFileSuccessfully =
        Notification.Name("com.alamofire.networking.session.download.file-manager-succeed")

    /// The manager could not move a downloaded file to its destination. The object is the download task, the user info
    /// is that of the error.
    ///
    /// Posted on the manager's ``URLSessionManager/operationQueue``.
    public static let urlSessionDownloadTaskDidFailToMoveFile =
        Notification.Name("com.alamofire.networking.session.download.file-manager-error")
}

/// The key of the response serializer's object, in the user info of `networkingTaskDidComplete`: absent if there is
/// none or the transport failed. For a download with a destination it is the file's URL.
public let NetworkingTaskDidCompleteSerializedResponseKey = "com.alamofire.networking.task.complete.serializedresponse"

/// The key of the response serializer, in the user info of `networkingTaskDidComplete`.
public let NetworkingTaskDidCompleteResponseSerializerKey = "com.alamofire.networking.task.complete.responseserializer"

/// The key of the response's body, in the user info of `networkingTaskDidComplete`: absent if the task has stored it in
/// a file.
public let NetworkingTaskDidCompleteResponseDataKey = "com.alamofire.networking.complete.finish.responsedata"

/// The key of the error, of the transport or of the serializer, in the user info of `networkingTaskDidComplete`.
public let NetworkingTaskDidCompleteErrorKey = "com.alamofire.networking.task.complete.error"

/// The key of the URL of the downloaded file, in the user info of `networkingTaskDidComplete`.
public let NetworkingTaskDidCompleteAssetPathKey = "com.alamofire.networking.task.complete.assetpath"

/// The key of the ``/AFURLSession/URLSessionTaskMetrics`` of the task, in the user info of `networkingTaskDidComplete`.
public let NetworkingTaskDidCompleteSessionTaskMetrics = "com.alamofire.networking.complete.sessiontaskmetrics"
