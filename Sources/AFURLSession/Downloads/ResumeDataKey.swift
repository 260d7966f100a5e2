/// In the `userInfo` of a failed download's error: a `Data` with which
/// ``URLSession/downloadTask(withResumeData:)`` goes on where it ended.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The same by its other name.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData
