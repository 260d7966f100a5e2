public import Foundation

// The raw values are those of AFNetworking: programs compare and log them.

extension Notification.Name {
    /// A task of a ``URLSessionManager`` runs, for the first time or again. The object is the task.
    ///
    /// Posted on the main queue, once the program has read one of these names.
    public static var networkingTaskDidResume: Notification.Name {
        RequestNotification.taskDidResume.nameForObservers
    }

    /// A task of a ``URLSessionManager`` was suspended, or has become a download. In that case
    /// `networkingTaskDidResume` follows with the download. The object is the task.
    ///
    /// Posted on the main queue, once the program has read one of these names.
    public static var networkingTaskDidSuspend: Notification.Name {
        RequestNotification.taskDidSuspend.nameForObservers
    }

    /// A task of a ``URLSessionManager`` has completed, and its completion handler has returned. The object is the task.
    ///
    /// Posted on the main queue, once the program has read one of these names. The keys of the user info are those of
    /// `Notification.NetworkingTaskKey`.
    public static var networkingTaskDidComplete: Notification.Name {
        RequestNotification.taskDidComplete.nameForObservers
    }

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

extension Notification {
    /// The keys in the user info of `Notification.Name.networkingTaskDidComplete`.
    public enum NetworkingTaskKey {
        /// The response serializer's object: absent if there is none or the transport failed. For a download with a
        /// destination it is the file's URL.
        public static let serializedResponse = "com.alamofire.networking.task.complete.serializedresponse"

        /// The response serializer.
        public static let responseSerializer = "com.alamofire.networking.task.complete.responseserializer"

        /// The response's body: absent if the task has stored it in a file.
        public static let responseData = "com.alamofire.networking.complete.finish.responsedata"

        /// The error, of the transport or of the serializer.
        public static let error = "com.alamofire.networking.task.complete.error"

        /// The URL of the downloaded file.
        public static let assetPath = "com.alamofire.networking.task.complete.assetpath"

        /// The ``/AFURLSession/URLSessionTaskMetrics`` of the task.
        public static let sessionTaskMetrics = "com.alamofire.networking.complete.sessiontaskmetrics"
    }
}
