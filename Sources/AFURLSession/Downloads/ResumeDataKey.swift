/// The key in the `userInfo` of a failed download's error for the `Data` with which
/// ``URLSession/downloadTask(withResumeData:)`` resumes it.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

/// The same key under its other name.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData
